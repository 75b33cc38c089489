// At each node the target draws the token that plain sampling would draw at that position; if a child equals
// it the walk goes on there. Lossless for every proposal, since what is emitted never depends on what was
// drafted; accepts sum p q where the draft samples independently, which is less than `rejection`.
#include "core/verify/rules.h"

namespace forerun {
namespace {

class ExactMatch final : public Verifier {
 public:
  absl::string_view name() const override { return "exact_match"; }

  absl::Status CheckLossless(Proposal, bool, const Sampling&) const override { return absl::OkStatus(); }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    Verdict verdict;
    int node = 0;
    while (true) {
      const Distribution p = target.At(node);
      const TokenId drawn = randoms.TargetDraw(target.PositionAfter(node), p);
      const std::vector<int> children = tree.Children(node);
      int next_node = -1;
      for (const int child : children) {
        const TokenId token = tree.node(child).token;
        verdict.examined.push_back({child, p[token], DraftProbability(tree, child), token == drawn});
        if (token != drawn) continue;
        next_node = child;
        break;
      }
      if (next_node < 0) {
        verdict.next = drawn;
        verdict.bonus = children.empty();
        return verdict;
      }
      verdict.accepted.push_back(next_node);
      node = next_node;
    }
  }
};

}  // namespace

const Verifier& ExactMatchRule() {
  static const ExactMatch& rule = *new ExactMatch();
  return rule;
}

}  // namespace forerun
