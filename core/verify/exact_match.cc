// The target's token at each node is the one that plain sampling would draw at that position: the text is
// plain sampling's own. Accepts sum p q where the draft samples independently, which is less than
// `rejection`.
#include "core/verify/drawn_target.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

class ExactMatch final : public Verifier {
 public:
  absl::string_view name() const override { return "exact_match"; }
  absl::string_view kept_for() const override { return "any draft"; }
  bool KeepsLaw(const DraftKind&, const Sampling&) const override { return true; }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    return FollowDrawnTarget(tree, target, [&](int node, const Distribution& p) {
      return randoms.TargetDraw(target.PositionAfter(node), p);
    });
  }
};

}  // namespace

std::unique_ptr<Verifier> MakeExactMatch(ObjectReader&) { return std::make_unique<ExactMatch>(); }

}  // namespace forerun
