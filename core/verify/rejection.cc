// Speculative sampling of a chain (Leviathan et al. 2023; Chen et al. 2023): a drafted x stands with
// probability min(1, p(x) / q(x)), else the token comes from norm(max(0, p - q)). A point mass is q(x) = 1: x
// stands with p(x), else the token comes from p without x. Accepts sum min(p, q), the most that any rule can
// at one position.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

class Rejection final : public Verifier {
 public:
  absl::string_view name() const override { return "rejection"; }

  absl::Status CheckLossless(Proposal proposal, bool chain, const Sampling& sampling) const override {
    if (chain && proposal != Proposal::kSampledWithoutReplacement) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("rule \"rejection\" is for chains of deterministic or sampled tokens, not for a ",
                     ProposalName(proposal), chain ? " chain" : " tree", "; use ",
                     sampling.greedy() ? "\"greedy\" or \"exact_match\"" : "\"exact_match\""));
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
      const TokenId token = tree.node(child).token;
      const double p_token = p[token], q_token = DraftProbability(tree, child);
      FORERUN_CHECK(q_token > 0);  // a token outside q was not drawn from it
      const bool accepted = randoms.Coin(child, std::min(1.0, p_token / q_token));
      verdict.examined.push_back({child, p_token, q_token, accepted});
      if (!accepted) {
        verdict.next = randoms.Draw(child, Purpose::kResidual, Residual(p, tree, child));
        return verdict;
      }
      verdict.accepted.push_back(child);
    }
  }

 private:
  // Empty only where p equals q but for rounding; the rejection
  // that led here had probability 0, and p stands in.
  static Distribution Residual(const Distribution& p, const TokenTree& tree, int child) {
    const Distribution* q = tree.q(tree.node(child).parent);
    Distribution residual = q == nullptr ? p.Without(tree.node(child).token) : p.MinusClamped(*q);
    return residual.empty() ? p : residual;
  }
};

}  // namespace

const Verifier& RejectionRule() {
  static const Rejection& rule = *new Rejection();
  return rule;
}

}  // namespace forerun
