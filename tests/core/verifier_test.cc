// What rules say about themselves, and what a verdict holds.
#include "core/verify/verifier.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Sampling kCold = {.temperature = 0};
const Sampling kWarm = {.temperature = 0.7f};

const Verifier& Rule(absl::string_view name) { return **FindVerifier(name); }

TEST(Registry, FindsEveryListedRule) {
  std::set<std::string> names;
  for (const VerifierInfo& info : ListVerifiers()) {
    names.insert(info.name);
    EXPECT_STRNE(info.description, "");
    const auto rule = FindVerifier(info.name);
    ASSERT_TRUE(rule.ok());
    EXPECT_EQ((*rule)->name(), info.name);
  }
  EXPECT_THAT(names, ElementsAre("exact_match", "greedy", "rejection"));
}

TEST(Registry, AnUnknownRuleNamesTheKnown) {
  const auto rule = FindVerifier("gredy");
  EXPECT_EQ(rule.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(rule.status().message(),
            "no verification rule \"gredy\"; the rules are: greedy, exact_match, rejection");
}

TEST(LawName, IsTheWordOfTheResults) {
  EXPECT_STREQ(LawName(Law::kGreedyIdentical), "greedy_identical");
  EXPECT_STREQ(LawName(Law::kExact), "exact_law");
  EXPECT_STREQ(LawName(Law::kLossy), "lossy");
}

TEST(CheckLossless, EachRuleForEachPairing) {
  for (const Proposal proposal :
       {Proposal::kDeterministic, Proposal::kSampled, Proposal::kSampledWithoutReplacement}) {
    for (const bool chain : {true, false}) {
      EXPECT_TRUE(Rule("greedy").CheckLossless(proposal, chain, kCold).ok());
      EXPECT_FALSE(Rule("greedy").CheckLossless(proposal, chain, kWarm).ok());
      const bool fits = chain && proposal != Proposal::kSampledWithoutReplacement;
      for (const Sampling& sampling : {kCold, kWarm}) {
        EXPECT_TRUE(Rule("exact_match").CheckLossless(proposal, chain, sampling).ok());
        EXPECT_EQ(Rule("rejection").CheckLossless(proposal, chain, sampling).ok(), fits);
      }
    }
  }
}

// A refusal names only rules that would be accepted.
TEST(CheckLossless, RefusalsNameTheRulesThatFit) {
  for (const char* name : {"greedy", "exact_match", "rejection"}) {
    for (const Proposal proposal :
         {Proposal::kDeterministic, Proposal::kSampled, Proposal::kSampledWithoutReplacement}) {
      for (const bool chain : {true, false}) {
        for (const Sampling& sampling : {kCold, kWarm}) {
          const absl::Status status = Rule(name).CheckLossless(proposal, chain, sampling);
          if (status.ok()) continue;
          EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
          const std::string advice(status.message().substr(status.message().find("; use ")));
          for (const VerifierInfo& info : ListVerifiers()) {
            const std::string quoted = std::string("\"") + info.name + '"';
            const bool fits = Rule(info.name).CheckLossless(proposal, chain, sampling).ok();
            EXPECT_EQ(advice.find(quoted) != std::string::npos, fits) << status;
          }
        }
      }
    }
  }
}

// A target that always gives the same row.
class FixedRows final : public TargetRows {
 public:
  explicit FixedRows(Distribution p) : p_(std::move(p)) {}
  Distribution At(int) const override { return p_; }
  int64_t PositionAfter(int node) const override { return 10 + node; }

 private:
  Distribution p_;
};

TokenTree Chain(std::vector<TokenId> tokens, const std::optional<Distribution>& q = std::nullopt) {
  TokenTree tree(0);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const int parent = static_cast<int>(i);
    if (q) tree.SetProposal(parent, Proposal::kSampled, q);
    tree.Add(parent, tokens[i]);
  }
  return tree;
}

TEST(Verdict, AnEmptyDraftGivesOneBonus) {
  const FixedRows rows(Distribution::PointMass(3));
  KeyedRandoms randoms(1, 2, 3);
  for (const VerifierInfo& info : ListVerifiers()) {
    const Verdict verdict = Rule(info.name).Verify(TokenTree(0), rows, randoms);
    EXPECT_THAT(verdict.accepted, IsEmpty());
    EXPECT_THAT(verdict.examined, IsEmpty());
    EXPECT_EQ(verdict.next, 3);
    EXPECT_TRUE(verdict.bonus);
  }
}

// With all mass on one token every rule does what greedy does, whatever the random numbers.
TEST(Verdict, APointMassMakesAllRulesGreedy) {
  const FixedRows rows(Distribution::PointMass(3));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    KeyedRandoms randoms(seed, 2, 3);
    for (const VerifierInfo& info : ListVerifiers()) {
      const Verdict verdict = Rule(info.name).Verify(Chain({3, 3, 1, 3}), rows, randoms);
      EXPECT_THAT(verdict.accepted, ElementsAre(1, 2));
      EXPECT_EQ(verdict.next, 3);
      EXPECT_FALSE(verdict.bonus);
      ASSERT_EQ(verdict.examined.size(), 3u);
      EXPECT_EQ(verdict.examined[1].node, 2);
      EXPECT_EQ(verdict.examined[1].p, 1);
      EXPECT_EQ(verdict.examined[1].q, 1);
      EXPECT_TRUE(verdict.examined[1].accepted);
      EXPECT_EQ(verdict.examined[2].p, 0);
      EXPECT_FALSE(verdict.examined[2].accepted);
    }
  }
}

TEST(Verdict, RecordsPAndQOfSampledTokens) {
  const Distribution p = Distribution::FromWeights(std::vector<double>{1, 3});
  const Distribution q = Distribution::FromWeights(std::vector<double>{1, 1});
  const FixedRows rows(p);
  for (const char* name : {"exact_match", "rejection"}) {
    KeyedRandoms randoms(4, 2, 3);
    const Verdict verdict = Rule(name).Verify(Chain({1, 0, 1}, q), rows, randoms);
    ASSERT_FALSE(verdict.examined.empty());
    EXPECT_EQ(verdict.examined[0].p, 0.75);
    EXPECT_EQ(verdict.examined[0].q, 0.5);
    EXPECT_EQ(verdict.examined.size(), verdict.accepted.size() + (verdict.bonus ? 0 : 1));
  }
}

// 0 - {5, 6, 7}, 6 - {6}.
TEST(Verdict, WalksDownATree) {
  TokenTree tree(0);
  tree.Add(0, 5);
  const int six = tree.Add(0, 6);
  tree.Add(0, 7);
  tree.Add(six, 6);
  const FixedRows rows(Distribution::PointMass(6));
  KeyedRandoms randoms(1, 2, 3);
  for (const char* name : {"greedy", "exact_match"}) {
    const Verdict verdict = Rule(name).Verify(tree, rows, randoms);
    EXPECT_THAT(verdict.accepted, ElementsAre(2, 4));
    EXPECT_EQ(verdict.next, 6);
    EXPECT_TRUE(verdict.bonus);
    ASSERT_EQ(verdict.examined.size(), 3u);  // 5, then 6, then 6; never 7
    EXPECT_EQ(verdict.examined[0].node, 1);
    EXPECT_FALSE(verdict.examined[0].accepted);
  }
}

TEST(Rejection, RefusesWhatItCannotJudge) {
  const FixedRows rows(Distribution::PointMass(6));
  KeyedRandoms randoms(1, 2, 3);
  TokenTree fork(0);
  fork.Add(0, 1);
  fork.Add(0, 2);
  EXPECT_DEATH(Rule("rejection").Verify(fork, rows, randoms), "is_chain");
  // A token that q cannot have drawn.
  EXPECT_DEATH(Rule("rejection").Verify(Chain({1}, Distribution::PointMass(2)), rows, randoms),
               "q_token > 0");
}

}  // namespace
}  // namespace forerun
