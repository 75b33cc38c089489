// Follows the target's best token down the tree as long as it was drafted. No randomness.
#include "core/verify/rules.h"

namespace forerun {
namespace {

class Greedy final : public Verifier {
 public:
  absl::string_view name() const override { return "greedy"; }
  absl::string_view kept_for() const override { return "any draft at temperature 0"; }
  bool KeepsLaw(const DraftKind&, const Sampling& sampling) const override { return sampling.greedy(); }

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

std::unique_ptr<Verifier> MakeGreedy(ObjectReader&) { return std::make_unique<Greedy>(); }

}  // namespace forerun
