// The parts of `forerun check`, each a subcommand of its own.
#pragma once

#include "experiments/commands/commands.h"

namespace forerun {

Command AddCheckLosslessCommand(CLI::App& check);

}  // namespace forerun
