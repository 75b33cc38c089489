// Block verification (Sun et al. 2024, arXiv:2403.10444): a chain is judged as a whole. A token that the
// target likes better than the draft lends what it has too much of to the tokens after it, so at least as
// many tokens stand as under `rejection`, and no lossless rule for chains keeps more.
//
//   P_0 = 1, P_i = min(1, P_{i-1} p(x_i) / q(x_i));   S_i = sum max(0, P_i p_i - q_i)
//   the prefix of i tokens stands with h_i = S_i / (S_i + 1 - P_i), the whole chain with its P, the longest
//   first; the next token comes from norm(max(0, P_i p_i - q_i)).
#include <algorithm>
#include <vector>

#include "core/base/check.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

// A prefix of the chain, down to one node.
struct Prefix {
  Distribution p;      // the target's row after it
  double reach = 1;    // P
  double p_token = 1;  // of the node's own token
  double q_token = 1;
};

// The prefixes that may stand. Below a prefix with P = 0 none may, and no row is asked for.
std::vector<Prefix> LivingPrefixes(const TokenTree& tree, const TargetRows& target) {
  std::vector<Prefix> prefixes = {{.p = target.At(0)}};
  for (int node = 1; node < tree.size(); ++node) {
    const Prefix& before = prefixes.back();
    const TokenId token = tree.node(node).token;
    Prefix prefix = {.p = {}, .p_token = before.p[token], .q_token = SiblingDraft(tree, node - 1).Of(token)};
    prefix.reach = std::min(1.0, before.reach * prefix.p_token / prefix.q_token);
    if (prefix.reach == 0) break;
    prefix.p = target.At(node);
    prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

class Block final : public Verifier {
 public:
  absl::string_view name() const override { return "block"; }
  absl::string_view kept_for() const override {
    return "chains of deterministic or sampled tokens that are not coupled";
  }
  bool KeepsLaw(const DraftKind& kind, const Sampling&) const override {
    return kind.chain && !kind.coupled && kind.proposal != Proposal::kSampledWithoutReplacement;
  }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    FORERUN_CHECK(tree.is_chain());
    const std::vector<Prefix> prefixes = LivingPrefixes(tree, target);
    const int last = tree.size() - 1;
    Verdict verdict;
    int stands = static_cast<int>(prefixes.size()) - 1;
    for (;; --stands) {
      const Prefix& prefix = prefixes[stands];
      if (stands == last) {
        if (last > 0 && !randoms.Coin(last, prefix.reach)) continue;
        verdict.next = randoms.Draw(last, Purpose::kBonus, prefix.p);
        verdict.bonus = true;
        break;
      }
      FORERUN_CHECK(tree.proposal(stands) != Proposal::kSampledWithoutReplacement);
      const Residual left =
          SiblingDraft(tree, stands).LeftOf(prefix.p, prefix.reach, tree.node(stands + 1).token);
      const bool stops =
          stands == 0 || (left.mass > 0 && randoms.Coin(stands, Height(left.mass, prefix.reach)));
      if (!stops) continue;
      // At the root nothing is left only where p equals q, and then the chain stands but for rounding.
      verdict.next =
          randoms.Draw(stands, Purpose::kResidual, left.distribution.empty() ? prefix.p : left.distribution);
      break;
    }
    Record(tree, prefixes, stands, verdict);
    return verdict;
  }

 private:
  static double Height(double mass, double reach) { return mass / (mass + (1 - reach)); }

  static void Record(const TokenTree& tree, const std::vector<Prefix>& prefixes, int stands,
                     Verdict& verdict) {
    for (int node = 1; node <= stands; ++node) {
      verdict.accepted.push_back(node);
      verdict.examined.push_back({node, prefixes[node].p_token, prefixes[node].q_token, true});
    }
    if (verdict.bonus) return;
    const int child = stands + 1;
    verdict.examined.push_back(
        {child, prefixes[stands].p[tree.node(child).token], DraftProbability(tree, child), false});
  }
};

}  // namespace

std::unique_ptr<Verifier> MakeBlock(ObjectReader&) { return std::make_unique<Block>(); }

}  // namespace forerun
