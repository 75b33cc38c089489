// Real keyed randomness gives the enumerated law, and the text of plain sampling.
#include <map>
#include <vector>

#include "core/verify/verifier.h"
#include "experiments/lossless/chi_square.h"
#include "experiments/lossless/law.h"
#include "gtest/gtest.h"
#include "tests/support/rules.h"

namespace forerun {
namespace {

TEST(KeyedRandoms, UsesTheKeysOfTheDesign) {
  const Distribution p = Distribution::FromWeights(std::vector<double>{1, 2, 3, 4});
  KeyedRandoms randoms(11, 22, 33);
  const double coin = Uniform({11, 22, 33, 4, Purpose::kAccept});
  EXPECT_FALSE(randoms.Coin(4, coin));
  EXPECT_TRUE(randoms.Coin(4, coin + 0x1p-53));
  for (const Purpose purpose : {Purpose::kResidual, Purpose::kBonus}) {
    EXPECT_EQ(randoms.Draw(4, purpose, p), p.DrawAt(Uniform({11, 22, 33, 4, purpose})));
  }
  EXPECT_EQ(TargetDrawKey(11, 22, 5), (RandomKey{11, 22, 5, 0, Purpose::kTarget}));
  EXPECT_EQ(randoms.TargetDraw(5, p), p.DrawRace(TargetDrawKey(11, 22, 5)));
}

TEST(KeyedRandoms, CoinsAreNeverAtZeroAndAlwaysAtOne) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    KeyedRandoms randoms(seed, 0, 0);
    EXPECT_FALSE(randoms.Coin(1, 0));
    EXPECT_TRUE(randoms.Coin(1, 1));
  }
}

// Emits `length` tokens with keyed randomness; drafts are drawn with theirs.
std::vector<TokenId> Emit(const Verifier& rule, const ContextTable& p, const ContextTable& q,
                          uint64_t request, int length) {
  std::vector<TokenId> committed = {0};
  while (static_cast<int>(committed.size()) <= length) {
    TokenTree tree(committed.back());
    std::vector<TokenId> context = committed;
    for (int node = 0; node < 2; ++node) {
      const Distribution q_row = DistributionAt(q, context);
      const RandomKey key = {9, request, committed.size(), static_cast<uint64_t>(node), Purpose::kDraft};
      tree.SetProposal(node, Proposal::kSampled, q_row);
      context.push_back(q_row.DrawAt(Uniform(key)));
      tree.Add(node, context.back());
    }
    KeyedRandoms randoms(9, request, committed.size());
    const Verdict verdict = rule.Verify(tree, TableRows(p, committed, tree), randoms);
    for (const int node : verdict.accepted) committed.push_back(tree.node(node).token);
    committed.push_back(verdict.next);
  }
  return {committed.begin() + 1, committed.begin() + 1 + length};
}

double LawPValue(const Verifier& rule, const ContextTable& drafted_for, const ContextTable& q,
                 const TokenLaw& law) {
  std::map<std::vector<TokenId>, int64_t> counts;
  for (const auto& [tokens, mass] : law) counts[tokens] = 0;
  for (uint64_t request = 0; request < 30000; ++request) ++counts[Emit(rule, drafted_for, q, request, 4)];
  std::vector<int64_t> observed;
  std::vector<double> expected;
  for (const auto& [tokens, count] : counts) {
    observed.push_back(count);
    expected.push_back(law.contains(tokens) ? law.at(tokens) : 0);
  }
  return ChiSquarePValue(observed, expected);
}

TEST(KeyedRandoms, FourTokensHaveTheTargetsLaw) {
  const ContextTable p = ContextTable::Random(3, 2, 41), q = ContextTable::Random(3, 2, 42);
  const TokenLaw law = PlainLaw({.target = &p}, 4);
  EXPECT_GT(LawPValue(Rule("rejection"), p, q, law), 1e-6);
  EXPECT_GT(LawPValue(Rule("exact_match"), p, q, law), 1e-6);
  // The same counts against another law.
  EXPECT_LT(LawPValue(Rule("rejection"), p, q, PlainLaw({.target = &q}, 4)), 1e-6);
  // greedy is not a way to sample.
  EXPECT_LT(LawPValue(Rule("greedy"), p, q, law), 1e-6);
}

// `exact_match` writes the very text of plain sampling, however it is drafted.
TEST(ExactMatch, KeepsTheTextOfPlainSampling) {
  const ContextTable p = ContextTable::Random(4, 3, 51), q = ContextTable::Random(4, 3, 52);
  for (uint64_t request = 0; request < 50; ++request) {
    std::vector<TokenId> plain = {0};
    while (plain.size() <= 40) {
      plain.push_back(
          DistributionAt(p, plain).DrawRace(TargetDrawKey(9, request, static_cast<int64_t>(plain.size()))));
    }
    plain.erase(plain.begin());
    EXPECT_EQ(Emit(Rule("exact_match"), p, q, request, 40), plain);
    EXPECT_EQ(Emit(Rule("exact_match"), p, p, request, 40), plain);
  }
}

}  // namespace
}  // namespace forerun
