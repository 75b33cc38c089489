#include "experiments/commands/experiment_options.h"

#include "experiments/commands/checks.h"

namespace forerun {

void AddExperimentOptions(CLI::App& command, ExperimentOptions& options) {
  command.add_option("CONFIG", options.config, "The experiment (experiments/configs/*.json)")->required();
  command
      .add_option("--set", options.overrides, "Change one value of the config: path=value; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--limit", options.limit, "Only the first N prompts, spread over the categories")
      ->check(IntegerFrom(1, 1 << 20));
}

}  // namespace forerun
