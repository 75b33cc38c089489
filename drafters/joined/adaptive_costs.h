// What `adaptive` weighs drafts with: the costs of its config, or costs measured at start-up.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "core/base/json.h"
#include "drafters/joined/adaptive_policy.h"
#include "drafters/joined/drafter_parts.h"

namespace forerun {

// "verify_cost" of `reader`: [[rows, cost], ...], rising.
void ReadVerifyCost(ObjectReader& reader, AdaptiveOptions* options);

// Measures verify_cost on the target, and draft_costs on `parts` after a short text that repeats itself,
// greedily; the best of some repetitions.
absl::Status MeasureCosts(const std::vector<DrafterPart>& parts, const DrafterResources& resources,
                          AdaptiveOptions* options);

}  // namespace forerun
