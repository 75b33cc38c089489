// The subcommands of `forerun`. Each function adds one to the command line and says what runs when it is
// chosen.
#pragma once

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace forerun {

struct Command {
  CLI::App* options = nullptr;
  std::function<absl::Status()> run;
};

Command AddRunCommand(CLI::App& app);
Command AddCompareCommand(CLI::App& app);
Command AddGenerateCommand(CLI::App& app);
Command AddScoreCommand(CLI::App& app);
Command AddTokenizeCommand(CLI::App& app);
Command AddListCommand(CLI::App& app);
Command AddSignatureCommand(CLI::App& app);
Command AddBenchCommand(CLI::App& app);
Command AddCheckCommand(CLI::App& app);
Command AddServeCommand(CLI::App& app);
Command AddOverlapCommand(CLI::App& app);
Command AddCorpusCommand(CLI::App& app);

}  // namespace forerun
