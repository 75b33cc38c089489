// Words, and what follows from a rule's aim.
#include "core/verify/verifier.h"

#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace forerun {

const char* LawName(Law law) {
  switch (law) {
    case Law::kGreedyIdentical:
      return "greedy_identical";
    case Law::kExact:
      return "exact_law";
    case Law::kLossy:
      return "lossy";
    case Law::kSynthetic:
      return "synthetic";
  }
  FORERUN_CHECK(false);
}

std::string Describe(const DraftKind& kind) {
  return absl::StrCat(kind.coupled ? "coupled " : "", ProposalName(kind.proposal),
                      kind.chain ? " chain" : " tree");
}

Law LawOf(const Verifier& rule, const Sampling& sampling) {
  if (rule.aim() != Law::kExact) return rule.aim();
  return sampling.greedy() ? Law::kGreedyIdentical : Law::kExact;
}

}  // namespace forerun
