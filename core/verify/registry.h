// The one place where all rules are listed, made and matched with drafts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "core/verify/verifier.h"

namespace forerun {

struct RuleInfo {
  const char* name;
  const char* description;
  const char* parameters;  // their defaults, as a JSON object
};
const std::vector<RuleInfo>& ListRules();

// `options`: "greedy", or {"rule": "typical", "epsilon": 0.1}. The object with every parameter in it;
// InvalidArgument that starts with `where` for an unknown rule or parameter.
absl::StatusOr<Json> ResolveRule(const Json& options, absl::string_view where);
absl::StatusOr<std::unique_ptr<Verifier>> MakeRule(const Json& options, absl::string_view where = "verifier");

// The rule for drafts that come without one: "greedy" at temperature 0, else "rejection", or
// "tree_recursive", its form for trees and for draws without replacement.
std::string DefaultRule(const DraftKind& kind, const Sampling& sampling);

// OK where the output keeps the target's law for these drafts and this sampling, or where the rule does not
// aim at that; otherwise InvalidArgument with the rules that would.
absl::Status CheckPairing(const Verifier& rule, const DraftKind& kind, const Sampling& sampling);
// The same where the kind of draft is not known yet: whether there is one that the rule may judge.
absl::Status CheckFitsSome(const Verifier& rule, const Sampling& sampling);

}  // namespace forerun
