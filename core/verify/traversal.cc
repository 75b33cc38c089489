// Traversal verification (Weng et al. 2025, arXiv:2505.12398): a tree is judged from its leaves to its root,
// the first leaf in order of proposal first. A leaf stands with its P, and its whole path with it; where it
// fails it is taken out of the tree, and its parent goes on with what it left, until the parent is a leaf
// itself. On a chain this is `block`.
//
//   root: P = 1;   child x of v: P_x = min(1, P_v p_v(x) / q_v(x))
//   x fails:  S = sum max(0, P_v p_v - q_v);  p_v := norm(max(0, P_v p_v - q_v));  P_v := S / (S + 1 - P_v)
#include <algorithm>
#include <iterator>
#include <vector>

#include "core/verify/rules.h"

namespace forerun {
namespace {

class Walk {
 public:
  Walk(const TokenTree& tree, const TargetRows& target, Randoms& randoms)
      : tree_(tree), target_(target), randoms_(randoms) {}

  Verdict Run() {
    Visit(0, 1);
    std::reverse(verdict_.accepted.begin(), verdict_.accepted.end());
    std::reverse(verdict_.examined.begin(), verdict_.examined.end());
    return std::move(verdict_);
  }

 private:
  // Whether a path through `node`, which has probability `reach` to stand, stands. The verdict's lists grow
  // from the end of that path upwards.
  bool Visit(int node, double reach) {
    const Distribution p = target_.At(node);
    Distribution rest = p;
    SiblingDraft draft(tree_, node);
    std::vector<Examined> tried;
    for (const int child : tree_.Children(node)) {
      const TokenId token = tree_.node(child).token;
      tried.push_back({child, p[token], DraftProbability(tree_, child), false});
      const double child_reach = std::min(1.0, reach * rest[token] / draft.Of(token));
      if (child_reach > 0 && Visit(child, child_reach)) {
        tried.back().accepted = true;
        verdict_.accepted.push_back(child);
        Record(tried);
        return true;
      }
      Residual left = draft.LeftOf(rest, reach, token);
      // The root always stands. Nothing is left of it only where p equals q, and then a child stands but for
      // rounding.
      if (node != 0) reach = left.mass > 0 ? left.mass / (left.mass + (1 - reach)) : 0;
      if (left.mass > 0) rest = std::move(left.distribution);
      draft.Take(token);
    }
    if (node != 0 && !randoms_.Coin(node, reach)) return false;
    verdict_.bonus = tried.empty();
    verdict_.next = randoms_.Draw(node, verdict_.bonus ? Purpose::kBonus : Purpose::kResidual, rest);
    Record(tried);
    return true;
  }

  void Record(const std::vector<Examined>& tried) {
    std::copy(tried.rbegin(), tried.rend(), std::back_inserter(verdict_.examined));
  }

  const TokenTree& tree_;
  const TargetRows& target_;
  Randoms& randoms_;
  Verdict verdict_;
};

class Traversal final : public Verifier {
 public:
  absl::string_view name() const override { return "traversal"; }
  absl::string_view kept_for() const override { return "any draft that is not coupled"; }
  bool KeepsLaw(const DraftKind& kind, const Sampling&) const override { return !kind.coupled; }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    return Walk(tree, target, randoms).Run();
  }
};

}  // namespace

std::unique_ptr<Verifier> MakeTraversal(ObjectReader&) { return std::make_unique<Traversal>(); }

}  // namespace forerun
