#include <vector>

#include "experiments/commands/check_commands.h"

namespace forerun {

Command AddCheckCommand(CLI::App& app) {
  CLI::App* check = app.add_subcommand("check", "Check what the program promises, on this machine");
  check->require_subcommand(1);
  check->footer("Example:\n  forerun check lossless");
  const std::vector<Command> parts = {AddCheckLosslessCommand(*check)};
  return {check, [parts] {
            for (const Command& part : parts) {
              if (part.options->parsed()) return part.run();
            }
            return absl::OkStatus();
          }};
}

}  // namespace forerun
