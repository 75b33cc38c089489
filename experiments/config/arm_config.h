// One arm of an experiment: a drafter, how many tokens it may draft, the rule that verifies, and the
// sampling.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "core/sampling/sampling.h"
#include "core/verify/verifier.h"

namespace forerun {

struct ArmConfig {
  std::string name;
  std::string drafter_type;
  int num_speculative_tokens = 0;  // K, root not counted
  Json drafter;                    // what MakeDrafter() gets: "type" and its own options
  std::string rule;
  bool rule_named = true;  // false: the default for drafts that are chains
  Json verifier;           // what MakeRule() gets: "rule" and all of its parameters
  Sampling sampling;
  bool own_sampling = false;  // differs from the experiment's

  bool drafts() const { return drafter_type != "none" && num_speculative_tokens > 0; }
};

// `where` is the arm's path ("arms.1"). `sampling`: the experiment's, which the arm's own keys override.
absl::StatusOr<ArmConfig> ReadArm(const Json& json, const std::string& where, const Sampling& sampling);
Json ArmJson(const ArmConfig& arm);

// Once it is known what the arm's drafts are: the default rule for them, where the config names none.
void ChooseRuleFor(const DraftKind& kind, ArmConfig* arm);

// Whether this "drafter" object, or one of its parts, uses the experiment's draft model.
bool NeedsDraftModel(const Json& drafter);

}  // namespace forerun
