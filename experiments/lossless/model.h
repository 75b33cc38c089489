// Losslessness on a real model at temperature 1, by counting: chain and tree drafters that the model is to
// itself, under every rule for such drafts. The first, second and third token must have the law that
// plain forwards of every possible context give. Plain sampling goes through the same tests, and mistakes
// must be caught.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "experiments/config/config.h"
#include "experiments/lossless/counts.h"

namespace forerun {

struct ModelLawPlan {
  std::string target;
  std::string draft;          // of `draft_tree`; empty: the target with its first layers alone
  std::string rule, drafter;  // empty: all
  HeadsOf heads = {};
  int texts = 1000;
  uint64_t seed = 20231;
  EngineConfig engine = {};
};

// Not judged yet. Shows its progress on stderr.
absl::StatusOr<SampledReport> RunModelLaws(const ModelLawPlan& plan);

}  // namespace forerun
