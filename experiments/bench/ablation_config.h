// What `forerun bench ablation` reads: models, and the fusion settings to set against each other. The keys:
// experiments/config/config.md.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "experiments/bench/speed.h"

namespace forerun {

struct AblationConfig {
  std::vector<std::string> models;
  SpeedPlan plan;  // of each; its model is one of them in turn
  int threads = 0;
};

absl::StatusOr<AblationConfig> ReadAblationConfig(const Json& json);

}  // namespace forerun
