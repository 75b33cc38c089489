// The parts of `forerun bench`, each a subcommand of its own.
#pragma once

#include "experiments/commands/commands.h"

namespace forerun {

Command AddBenchModelCommand(CLI::App& bench);
Command AddBenchKernelsCommand(CLI::App& bench);
Command AddBenchAblationCommand(CLI::App& bench);

}  // namespace forerun
