// The lossy rules: what their parameters mean, worked out by hand.
#include <cmath>
#include <map>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/rules.h"

namespace forerun {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Verdict Judge(const Json& options, const TokenTree& tree, const TargetRows& rows) {
  KeyedRandoms randoms(1, 2, 3);
  return (*MakeRule(options))->Verify(tree, rows, randoms);
}

std::vector<int> Accepted(const Json& options, const TokenTree& tree, const TargetRows& rows) {
  return Judge(options, tree, rows).accepted;
}

TokenTree OneToken(TokenId token) {
  TokenTree tree(0);
  tree.Add(0, token);
  return tree;
}

Distribution Row(const std::vector<double>& weights) { return Distribution::FromWeights(weights); }

// H = 1.3221 nats: delta exp(-H) = 0.3 * 0.2666 = 0.0800 is below epsilon = 0.09.
TEST(Typical, TheBarIsTheLesserOfEpsilonAndEntropy) {
  const FixedRows rows(Row({0.4, 0.3, 0.2, 0.085, 0.015}));
  EXPECT_THAT(Accepted("typical", OneToken(3), rows), ElementsAre(1));
  EXPECT_THAT(Accepted("typical", OneToken(4), rows), IsEmpty());
  EXPECT_THAT(Accepted({{"rule", "typical"}, {"delta", 0.33}}, OneToken(3), rows), IsEmpty());  // 0.0880
  EXPECT_THAT(Accepted({{"rule", "typical"}, {"epsilon", 0.01}}, OneToken(4), rows), ElementsAre(1));
  EXPECT_THAT(Accepted({{"rule", "typical"}, {"epsilon", 0}}, OneToken(7), rows), IsEmpty());  // p is 0
}

TEST(Typical, APointMassIsGreedy) {
  const FixedRows rows(Distribution::PointMass(2));
  EXPECT_THAT(Accepted("typical", OneToken(2), rows), ElementsAre(1));
  EXPECT_THAT(Accepted("typical", OneToken(1), rows), IsEmpty());
}

TEST(Relaxed, WithinTopKAndWithinARatio) {
  const FixedRows rows(Row({0.4, 0.25, 0.25, 0.1}));
  const auto relaxed = [&rows](int top_k, double ratio, TokenId token) {
    return Accepted({{"rule", "relaxed"}, {"top_k", top_k}, {"ratio", ratio}}, OneToken(token), rows)
               .size() == 1;
  };
  EXPECT_TRUE(relaxed(1, 0, 0));
  EXPECT_FALSE(relaxed(1, 0, 1));
  EXPECT_TRUE(relaxed(2, 0, 1));
  EXPECT_TRUE(relaxed(2, 0, 2));  // the equal of the second
  EXPECT_FALSE(relaxed(3, 0, 3));
  EXPECT_TRUE(relaxed(4, 0, 3));
  EXPECT_FALSE(relaxed(99, 0, 4));  // p is 0
  EXPECT_TRUE(relaxed(0, 0.25, 3));
  EXPECT_FALSE(relaxed(0, 0.26, 3));
  EXPECT_FALSE(relaxed(1, 0.25, 3));
  EXPECT_TRUE(relaxed(0, 1, 0));
}

// Judged by one row, continued from the other.
class ColdRows final : public TargetRows {
 public:
  Distribution At(int) const override { return Distribution::PointMass(0); }
  Distribution UnwarpedAt(int) const override { return Row({0.6, 0.4}); }
  int64_t PositionAfter(int) const override { return 0; }
};

TEST(Relaxed, AlsoRelaxesGreedyDecoding) {
  const Verdict verdict = Judge("relaxed", OneToken(1), ColdRows());
  EXPECT_THAT(verdict.accepted, ElementsAre(1));
  EXPECT_EQ(verdict.next, 0);
  EXPECT_THAT(Accepted("typical", OneToken(1), ColdRows()), IsEmpty());
}

// 0 - {1, 2}, 1 - {3}, 2 - {0, 1}: the longest path; among equals the likelier; among those the first.
TEST(LongestPath, DepthThenLikelihoodThenOrder) {
  TokenTree tree(0);
  const int one = tree.Add(0, 1), two = tree.Add(0, 2);
  tree.Add(one, 3);
  tree.Add(two, 0);
  const int last = tree.Add(two, 1);
  const Json all = {{"rule", "relaxed"}, {"top_k", 4}, {"ratio", 0}};
  EXPECT_THAT(Accepted(all, tree, FixedRows(Row({0.1, 0.3, 0.4, 0.2}))), ElementsAre(two, last));
  EXPECT_THAT(Accepted(all, tree, FixedRows(Row({0.25, 0.25, 0.25, 0.25}))), ElementsAre(one, 3));
  const Verdict verdict =
      Judge({{"rule", "relaxed"}, {"top_k", 1}}, tree, FixedRows(Row({0.1, 0.3, 0.4, 0.2})));
  EXPECT_THAT(verdict.accepted, ElementsAre(two));
  EXPECT_FALSE(verdict.bonus);
  ASSERT_EQ(verdict.examined.size(), 4u);  // both children of the root, both of `two`
  EXPECT_FALSE(verdict.examined[0].accepted);
  EXPECT_TRUE(verdict.examined[1].accepted);
  EXPECT_EQ(verdict.examined[3].node, last);
}

// Depths 1, 2, 3 stand with 0.9, 0.5, 0.5, whatever the tokens are.
TEST(Synthetic, AcceptsByDepth) {
  constexpr int kRounds = 20000;
  const auto rule = *MakeRule({{"rule", "synthetic"}, {"acceptance", {0.9, 0.5}}});
  TokenTree tree(0);
  for (int node = 0; node < 3; ++node) tree.Add(node, 7);
  const FixedRows rows(Distribution::PointMass(1));
  std::map<std::size_t, int> counts;
  for (int round = 0; round < kRounds; ++round) {
    KeyedRandoms randoms(5, 6, round);
    const Verdict verdict = rule->Verify(tree, rows, randoms);
    ++counts[verdict.accepted.size()];
    EXPECT_EQ(verdict.next, 1);
    EXPECT_EQ(verdict.bonus, verdict.accepted.size() == 3);
  }
  const double expected[] = {0.1, 0.45, 0.225, 0.225};
  for (std::size_t length = 0; length < 4; ++length) {
    const double sigma = std::sqrt(expected[length] * (1 - expected[length]) / kRounds);
    EXPECT_NEAR(counts[length] / static_cast<double>(kRounds), expected[length], 6 * sigma) << length;
  }
}

}  // namespace
}  // namespace forerun
