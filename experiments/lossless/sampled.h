// Losslessness through the engine, by counting: many texts from tables that are the models, every registered
// drafter under every rule that keeps the law for it. The first, second and last token must have the target's
// law.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "experiments/lossless/counts.h"

namespace forerun {

struct SampledPlan {
  std::string rule;     // empty: all
  std::string drafter;  // empty: all
  int texts = 20000;
  uint64_t seed = 20231;
};

// Not judged yet. Shows its progress on stderr.
absl::StatusOr<SampledReport> RunSampledLaws(const SampledPlan& plan);

}  // namespace forerun
