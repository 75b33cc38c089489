#include "core/tree/token_tree.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// 0 - 1 - 3
//  \- 2 - 4
TokenTree Fork() {
  TokenTree tree(10);
  EXPECT_EQ(tree.Add(0, 11), 1);
  EXPECT_EQ(tree.Add(0, 12), 2);
  EXPECT_EQ(tree.Add(1, 13), 3);
  EXPECT_EQ(tree.Add(2, 14), 4);
  return tree;
}

TEST(TokenTree, TheRootAloneIsAnEmptyChain) {
  const TokenTree tree(7);
  EXPECT_EQ(tree.size(), 1);
  EXPECT_EQ(tree.num_drafted(), 0);
  EXPECT_TRUE(tree.is_chain());
  EXPECT_THAT(tree.Children(0), IsEmpty());
  EXPECT_THAT(tree.PathTokens(0), IsEmpty());
  EXPECT_EQ(tree.node(0).token, 7);
  EXPECT_EQ(tree.node(0).parent, -1);
}

TEST(TokenTree, KnowsDepthsChildrenAndPaths) {
  const TokenTree tree = Fork();
  EXPECT_EQ(tree.node(4).depth, 2);
  EXPECT_EQ(tree.node(4).parent, 2);
  EXPECT_THAT(tree.Children(0), ElementsAre(1, 2));
  EXPECT_THAT(tree.Children(2), ElementsAre(4));
  EXPECT_THAT(tree.PathTokens(4), ElementsAre(12, 14));
  EXPECT_THAT(tree.PathTokens(1), ElementsAre(11));
  EXPECT_FALSE(tree.is_chain());
}

TEST(TokenTree, AChainIsATree) {
  TokenTree tree(1);
  for (int i = 0; i < 4; ++i) tree.Add(i, 5);
  EXPECT_TRUE(tree.is_chain());
  EXPECT_EQ(tree.node(4).depth, 4);
}

TEST(TokenTree, KeepsEachParentsProposal) {
  TokenTree tree = Fork();
  tree.SetProposal(0, Proposal::kSampledWithoutReplacement, Distribution::PointMass(3));
  EXPECT_EQ(tree.proposal(0), Proposal::kSampledWithoutReplacement);
  ASSERT_NE(tree.q(0), nullptr);
  EXPECT_EQ(tree.q(0)->Argmax(), 3);
  EXPECT_EQ(tree.proposal(1), Proposal::kDeterministic);
  EXPECT_EQ(tree.q(1), nullptr);
  tree.SetProposal(0, Proposal::kDeterministic, std::nullopt);
  EXPECT_EQ(tree.q(0), nullptr);
}

TEST(TokenTree, EqualSiblingsOnlyWhereIndependentlySampled) {
  TokenTree tree(1);
  tree.SetProposal(0, Proposal::kSampled, Distribution::PointMass(5));
  tree.Add(0, 5);
  tree.Add(0, 5);
  EXPECT_THAT(tree.Children(0), ElementsAre(1, 2));
  EXPECT_DEATH(tree.SetProposal(0, Proposal::kDeterministic, std::nullopt), "check failed");
  TokenTree deterministic(1);
  deterministic.Add(0, 5);
  EXPECT_DEATH(deterministic.Add(0, 5), "check failed");
}

TEST(TokenTree, RefusesBrokenInvariants) {
  TokenTree tree(1);
  EXPECT_DEATH(tree.Add(1, 5), "check failed");
  EXPECT_DEATH(tree.Add(-1, 5), "check failed");
  EXPECT_DEATH(tree.SetProposal(0, Proposal::kSampled, std::nullopt), "check failed");
  EXPECT_DEATH(tree.SetProposal(0, Proposal::kDeterministic, Distribution::PointMass(1)), "check failed");
}

TEST(ProposalName, IsTheWordOfTheConfigs) {
  EXPECT_STREQ(ProposalName(Proposal::kDeterministic), "deterministic");
  EXPECT_STREQ(ProposalName(Proposal::kSampled), "sampled");
  EXPECT_STREQ(ProposalName(Proposal::kSampledWithoutReplacement), "sampled_without_replacement");
}

}  // namespace
}  // namespace forerun
