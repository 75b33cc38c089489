// Follows the target's best token down the tree as long as it was drafted. No randomness.
#include "absl/strings/str_cat.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

class Greedy final : public Verifier {
 public:
  absl::string_view name() const override { return "greedy"; }

  absl::Status CheckLossless(Proposal proposal, bool chain, const Sampling& sampling) const override {
    if (sampling.greedy()) return absl::OkStatus();
    const bool rejection_fits = chain && proposal != Proposal::kSampledWithoutReplacement;
    return absl::InvalidArgumentError(absl::StrCat(
        "rule \"greedy\" keeps the target's law at temperature 0 only, not at ", sampling.temperature,
        "; use ", rejection_fits ? "\"rejection\" or \"exact_match\"" : "\"exact_match\""));
  }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms&) const override {
    Verdict verdict;
    int node = 0;
    while (true) {
      const TokenId best = target.BestAt(node);
      const std::vector<int> children = tree.Children(node);
      int next_node = -1;
      for (const int child : children) {
        const bool equal = tree.node(child).token == best;
        verdict.examined.push_back({child, equal ? 1.0 : 0.0, DraftProbability(tree, child), equal});
        if (!equal) continue;
        next_node = child;
        break;
      }
      if (next_node < 0) {
        verdict.next = best;
        verdict.bonus = children.empty();
        return verdict;
      }
      verdict.accepted.push_back(next_node);
      node = next_node;
    }
  }
};

}  // namespace

const Verifier& GreedyRule() {
  static const Greedy& rule = *new Greedy();
  return rule;
}

}  // namespace forerun
