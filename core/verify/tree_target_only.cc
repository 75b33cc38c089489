// One draw from the target at each node, looked up among the children: rejection of point masses over a tree
// (the default of SGLang's tree sampling). The draw is keyed by round and node, not by position: a draft that
// is coupled to the draws of plain sampling gains nothing from that here. Never reads q.
#include "core/verify/drawn_target.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

class TreeTargetOnly final : public Verifier {
 public:
  absl::string_view name() const override { return "tree_target_only"; }
  absl::string_view kept_for() const override { return "any draft"; }
  bool KeepsLaw(const DraftKind&, const Sampling&) const override { return true; }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    return FollowDrawnTarget(tree, target, [&](int node, const Distribution& p) {
      return randoms.Draw(node, Purpose::kBonus, p);
    });
  }
};

}  // namespace

std::unique_ptr<Verifier> MakeTreeTargetOnly(ObjectReader&) { return std::make_unique<TreeTargetOnly>(); }

}  // namespace forerun
