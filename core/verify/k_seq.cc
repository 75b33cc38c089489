// SpecTr's sequential selection (Sun et al. 2023, arXiv:2310.15141): k independent draws from q are tried in
// order, each standing with min(1, p / (rho q)), rho in [1, k]. With b = sum min(q, p / rho) one of them
// stands with probability a = 1 - (1 - b)^k; else the token comes from p - min(q, p / rho) a / b, which is a
// distribution where a <= rho b. a falls with rho, so the best rho is the least with a <= rho b.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/check.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

// Every rho that is valid is lossless, so the bisection keeps the valid end.
double BestRho(const Distribution& p, const Distribution& q, int draws) {
  constexpr int kBisections = 40;
  if (draws == 1) return 1;
  double low = 1, high = draws;
  for (int i = 0; i < kBisections; ++i) {
    const double rho = (low + high) / 2, b = Overlap(p, q, 1 / rho);
    const bool valid = 1 - std::pow(1 - b, draws) <= rho * b;
    (valid ? high : low) = rho;
  }
  return high;
}

Distribution AfterAllFailed(const Distribution& p, const Distribution& q, double rho, int draws) {
  const double b = Overlap(p, q, 1 / rho);
  if (b == 0) return p;
  const double share = (1 - std::pow(1 - b, draws)) / b;
  std::vector<double> weights(p.tokens().back() + 1);
  double sum = 0;
  for (std::size_t i = 0; i < p.tokens().size(); ++i) {
    const TokenId token = p.tokens()[i];
    const double p_token = p.probabilities()[i];
    sum += weights[token] = std::max(0.0, p_token - share * std::min(q[token], p_token / rho));
  }
  // Nothing is left only where p equals q, and then the first draw stands but for rounding.
  return sum > 0 ? Distribution::FromWeights(weights) : p;
}

class KSeq final : public Verifier {
 public:
  absl::string_view name() const override { return "k_seq"; }
  absl::string_view kept_for() const override { return "sampled drafts"; }
  bool KeepsLaw(const DraftKind& kind, const Sampling&) const override {
    return kind.proposal == Proposal::kSampled;
  }

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
    if (children.empty()) {
      verdict.next = randoms.Draw(node, Purpose::kBonus, p);
      verdict.bonus = true;
      return false;
    }
    FORERUN_CHECK(tree.proposal(node) == Proposal::kSampled);
    const Distribution& q = *tree.q(node);
    const int draws = static_cast<int>(children.size());
    const double rho = BestRho(p, q, draws);
    for (const int child : children) {
      const double p_token = p[tree.node(child).token], q_token = DraftProbability(tree, child);
      FORERUN_CHECK(q_token > 0);  // a token outside q was not drawn from it
      const bool accepted = randoms.Coin(child, std::min(1.0, p_token / (rho * q_token)));
      verdict.examined.push_back({child, p_token, q_token, accepted});
      if (!accepted) continue;
      verdict.accepted.push_back(child);
      return true;
    }
    verdict.next = randoms.Draw(node, Purpose::kResidual, AfterAllFailed(p, q, rho, draws));
    return false;
  }
};

}  // namespace

std::unique_ptr<Verifier> MakeKSeq(ObjectReader&) { return std::make_unique<KSeq>(); }

}  // namespace forerun
