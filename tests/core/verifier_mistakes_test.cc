// Negative controls of verifier_enumeration_test.cc: mistakes that public code has made must be seen.
#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/speculation.h"

namespace forerun {
namespace {

constexpr double kExact = 1e-12;
constexpr double kVisible = 1e-3;

const Verifier* Rule(absl::string_view name) { return *FindVerifier(name); }

double Bias(const Speculation& speculation, int length) {
  return TotalVariation(EmittedLaw(speculation, length),
                        PlainLaw(*speculation.target, speculation.prompt, length));
}

// Rejection with knobs for being wrong; right with all of them off.
class FaultyRejection final : public Verifier {
 public:
  bool draws_correction_from_p = false;
  const ContextTable* unwarped = nullptr;  // where the bonus comes from

  absl::string_view name() const override { return "faulty"; }
  absl::Status CheckLossless(Proposal, bool, const Sampling&) const override { return absl::OkStatus(); }
  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    Verdict verdict;
    for (int child = 1; child < tree.size(); ++child) {
      const Distribution p = target.At(child - 1), q = *tree.q(child - 1);
      const TokenId token = tree.node(child).token;
      if (!randoms.Coin(child, std::min(1.0, p[token] / q[token]))) {
        const Distribution residual = p.MinusClamped(q);
        const bool from_p = draws_correction_from_p || residual.empty();
        verdict.next = randoms.Draw(child, Purpose::kResidual, from_p ? p : residual);
        return verdict;
      }
      verdict.accepted.push_back(child);
    }
    const int last = tree.size() - 1;
    const Distribution p =
        unwarped == nullptr ? target.At(last)
                            : DistributionAt(*unwarped, static_cast<const TableRows&>(target).Context(last));
    verdict.next = randoms.Draw(last, Purpose::kBonus, p);
    return verdict;
  }
};

class Mistakes : public testing::Test {
 protected:
  double BiasOf(const Verifier& rule, const DraftFunction& draft, bool keys_without_place = false) {
    return Bias({.target = &p_,
                 .draft = draft,
                 .rule = &rule,
                 .num_speculative_tokens = 2,
                 .keys_without_place = keys_without_place},
                4);
  }

  const ContextTable p_ = ContextTable::Random(3, 3, 31);
  const ContextTable q_ = ContextTable::Random(3, 3, 32);
};

TEST_F(Mistakes, NoneWithAllKnobsOff) { EXPECT_LE(BiasOf(FaultyRejection(), SampledChain(q_)), kExact); }

TEST_F(Mistakes, CorrectionDrawnFromP) {
  FaultyRejection rule;
  rule.draws_correction_from_p = true;
  EXPECT_GT(BiasOf(rule, SampledChain(q_)), kVisible);
}

// Spec-Bench's EAGLE: the bonus drawn at temperature 1 while all else is warped.
TEST_F(Mistakes, BonusDrawnFromUnwarpedTarget) {
  ContextTable unwarped = p_;
  for (int row = 0; row < unwarped.num_rows(); ++row) {
    double sum = 0;
    for (double& value : unwarped.RowAt(row)) sum += value = std::sqrt(value);
    for (double& value : unwarped.RowAt(row)) value /= sum;
  }
  FaultyRejection rule;
  rule.unwarped = &unwarped;
  EXPECT_GT(BiasOf(rule, SampledChain(q_)), kVisible);
}

// Tokens drawn from one context's q, judged by another's.
TEST_F(Mistakes, WrongQ) {
  const DraftFunction draft = [this](std::span<const TokenId> committed, int budget, Branching& branching,
                                     TokenTree& tree) {
    SampledChain(q_)(committed, budget, branching, tree);
    for (int node = 0; node + 1 < tree.size(); ++node) {
      const std::vector<TokenId> other = {1, 1, tree.node(node).token};
      tree.SetProposal(node, Proposal::kSampled, DistributionAt(q_, other));
    }
  };
  EXPECT_GT(BiasOf(*Rule("rejection"), draft), kVisible);
}

// SpecInfer's and others' code: the best tokens, judged by the softmax as if they had been drawn from it.
TEST_F(Mistakes, BestTokensJudgedAsSampled) {
  const DraftFunction draft = [this](std::span<const TokenId> committed, int budget, Branching& branching,
                                     TokenTree& tree) {
    BestChain(q_)(committed, budget, branching, tree);
    std::vector<TokenId> context(committed.begin(), committed.end());
    for (int node = 0; node + 1 < tree.size(); ++node) {
      tree.SetProposal(node, Proposal::kSampled, DistributionAt(q_, context));
      context.push_back(tree.node(node + 1).token);
    }
  };
  EXPECT_GT(BiasOf(*Rule("rejection"), draft), kVisible);
}

// Sequoia's code: random numbers drawn once and used by node in every round.
TEST_F(Mistakes, CoinsKeyedByNodeAlone) {
  EXPECT_GT(BiasOf(*Rule("rejection"), SampledChain(q_), true), kVisible);
  EXPECT_GT(BiasOf(*Rule("rejection"), BestChain(q_), true), kVisible);
}

}  // namespace
}  // namespace forerun
