// The one place where rules are listed.
#include "core/verify/verifier.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

struct Entry {
  VerifierInfo info;
  const Verifier& (*rule)();
};

constexpr Entry kRules[] = {
    {{"greedy", "accepts what equals the target's best token; any proposal, temperature 0"}, GreedyRule},
    {{"exact_match",
      "draws the target's token and accepts what equals it; any proposal, keeps plain sampling's text"},
     ExactMatchRule},
    {{"rejection", "speculative sampling: accepts with min(1, p/q), else draws from the residual; chains"},
     RejectionRule},
};

}  // namespace

const char* LawName(Law law) {
  switch (law) {
    case Law::kGreedyIdentical:
      return "greedy_identical";
    case Law::kExact:
      return "exact_law";
    case Law::kLossy:
      return "lossy";
  }
  FORERUN_CHECK(false);
}

absl::StatusOr<const Verifier*> FindVerifier(absl::string_view name) {
  for (const Entry& entry : kRules) {
    if (name == entry.info.name) return &entry.rule();
  }
  const std::string names = absl::StrJoin(
      kRules, ", ", [](std::string* out, const Entry& entry) { absl::StrAppend(out, entry.info.name); });
  return absl::InvalidArgumentError(
      absl::StrCat("no verification rule \"", name, "\"; the rules are: ", names));
}

std::vector<VerifierInfo> ListVerifiers() {
  std::vector<VerifierInfo> infos;
  for (const Entry& entry : kRules) infos.push_back(entry.info);
  return infos;
}

double DraftProbability(const TokenTree& tree, int child) {
  const Distribution* q = tree.q(tree.node(child).parent);
  return q == nullptr ? 1 : (*q)[tree.node(child).token];
}

}  // namespace forerun
