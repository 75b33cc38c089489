#include <vector>

#include "experiments/commands/bench_commands.h"

namespace forerun {

Command AddBenchCommand(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Time a part of the program by itself");
  bench->require_subcommand(1);
  bench->footer("Example:\n  forerun bench model smollm2-135m-instruct-q4_1 --rows 1,2,4,8 --repeat 9");
  const std::vector<Command> parts = {AddBenchModelCommand(*bench), AddBenchKernelsCommand(*bench),
                                      AddBenchAblationCommand(*bench)};
  return {bench, [parts] {
            for (const Command& part : parts) {
              if (part.options->parsed()) return part.run();
            }
            return absl::OkStatus();
          }};
}

}  // namespace forerun
