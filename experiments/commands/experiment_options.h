// Which experiment a command works on: what `run` and `serve` take alike.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace forerun {

struct ExperimentOptions {
  std::string config;
  std::vector<std::string> overrides;
  int limit = 0;  // 0: all prompts
};

void AddExperimentOptions(CLI::App& command, ExperimentOptions& options);

}  // namespace forerun
