// Speculative sampling of a chain (Leviathan et al. 2023; Chen et al. 2023): a drafted x stands with
// probability min(1, p(x) / q(x)), else the token comes from norm(max(0, p - q)). A point mass is q(x) = 1: x
// stands with p(x), else the token comes from p without x. Accepts sum min(p, q), the most that any rule can
// at one position.
#include <algorithm>

#include "core/base/check.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

class Rejection final : public Verifier {
 public:
  absl::string_view name() const override { return "rejection"; }
  absl::string_view kept_for() const override { return "chains of deterministic or sampled tokens"; }
  bool KeepsLaw(const DraftKind& kind, const Sampling&) const override {
    return kind.chain && kind.proposal != Proposal::kSampledWithoutReplacement;
  }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    FORERUN_CHECK(tree.is_chain());
    Verdict verdict;
    for (int node = 0;; ++node) {
      const Distribution p = target.At(node);
      const int child = node + 1;
      if (child == tree.size()) {
        verdict.next = randoms.Draw(node, Purpose::kBonus, p);
        verdict.bonus = true;
        return verdict;
      }
      FORERUN_CHECK(tree.proposal(node) != Proposal::kSampledWithoutReplacement);
      const SiblingDraft draft(tree, node);
      const TokenId token = tree.node(child).token;
      const double p_token = p[token], q_token = draft.Of(token);
      const bool accepted = randoms.Coin(child, std::min(1.0, p_token / q_token));
      verdict.examined.push_back({child, p_token, q_token, accepted});
      if (!accepted) {
        // Nothing is left only where p equals q but for rounding; the rejection that led here had probability
        // 0, and p stands in.
        const Distribution residual = draft.LeftOf(p, 1, token).distribution;
        verdict.next = randoms.Draw(child, Purpose::kResidual, residual.empty() ? p : residual);
        return verdict;
      }
      verdict.accepted.push_back(child);
    }
  }
};

}  // namespace

std::unique_ptr<Verifier> MakeRejection(ObjectReader&) { return std::make_unique<Rejection>(); }

}  // namespace forerun
