// Multi-step speculative sampling of a tree (Miao et al. 2023, SpecInfer, with replacement; Jeon et al. 2024
// and Yang et al. 2024, without): the children of a node are tried in order, each as `rejection` tries one
// token, against the residual that the ones before it left. A deterministic child is a point mass: it stands
// with the residual's probability of it and is then struck out.
#include <algorithm>

#include "core/verify/rules.h"

namespace forerun {
namespace {

class TreeRecursive final : public Verifier {
 public:
  absl::string_view name() const override { return "tree_recursive"; }
  absl::string_view kept_for() const override { return "any draft"; }
  bool KeepsLaw(const DraftKind&, const Sampling&) const override { return true; }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    Verdict verdict;
    int node = 0;
    while (TryChildren(tree, node, target.At(node), randoms, verdict)) node = verdict.accepted.back();
    return verdict;
  }

 private:
  // Appends the child that stands; where none does, draws the next token.
  static bool TryChildren(const TokenTree& tree, int node, const Distribution& p, Randoms& randoms,
                          Verdict& verdict) {
    const std::vector<int> children = tree.Children(node);
    SiblingDraft draft(tree, node);
    Distribution rest = p;
    for (const int child : children) {
      const TokenId token = tree.node(child).token;
      const bool accepted = randoms.Coin(child, std::min(1.0, rest[token] / draft.Of(token)));
      verdict.examined.push_back({child, p[token], DraftProbability(tree, child), accepted});
      if (accepted) {
        verdict.accepted.push_back(child);
        return true;
      }
      // Nothing is left only after a rejection that had probability 0 but for rounding.
      Residual left = draft.LeftOf(rest, 1, token);
      if (left.mass > 0) rest = std::move(left.distribution);
      draft.Take(token);
    }
    verdict.bonus = children.empty();
    verdict.next = randoms.Draw(node, verdict.bonus ? Purpose::kBonus : Purpose::kResidual, rest);
    return false;
  }
};

}  // namespace

std::unique_ptr<Verifier> MakeTreeRecursive(ObjectReader&) { return std::make_unique<TreeRecursive>(); }

}  // namespace forerun
