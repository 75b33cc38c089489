// What rules say about themselves, how they are made, and what a verdict holds.
#include "core/verify/verifier.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/rules.h"

namespace forerun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Sampling kCold = {.temperature = 0};
const Sampling kWarm = {.temperature = 0.7f};
constexpr Proposal kProposals[] = {Proposal::kDeterministic, Proposal::kSampled,
                                   Proposal::kSampledWithoutReplacement};

std::vector<DraftKind> AllKinds() {
  std::vector<DraftKind> kinds;
  for (const Proposal proposal : kProposals) {
    for (const bool chain : {true, false}) kinds.push_back({proposal, chain, /*coupled=*/false});
  }
  kinds.push_back({Proposal::kSampled, /*chain=*/true, /*coupled=*/true});
  return kinds;
}

std::string ErrorOf(const Json& options) {
  return std::string(MakeRule(options, "arms.1.verifier").status().message());
}

TEST(Registry, MakesEveryListedRule) {
  std::set<std::string> names;
  for (const RuleInfo& info : ListRules()) {
    names.insert(info.name);
    EXPECT_STRNE(info.description, "");
    EXPECT_EQ(Rule(info.name).name(), info.name);
    EXPECT_NE(Rule(info.name).kept_for(), "");
  }
  EXPECT_THAT(names, ElementsAre("block", "exact_match", "greedy", "k_seq", "rejection", "relaxed",
                                 "synthetic", "traversal", "tree_recursive", "tree_target_only", "typical"));
}

TEST(Registry, WritesEveryParameterOut) {
  EXPECT_EQ(DumpJson(*ResolveRule("greedy", "verifier")), R"({"rule":"greedy"})");
  EXPECT_EQ(DumpJson(*ResolveRule("typical", "verifier")),
            R"({"rule":"typical","epsilon":0.09,"delta":0.3})");
  EXPECT_EQ(DumpJson(*ResolveRule({{"delta", 0.5}, {"rule", "typical"}}, "verifier")),
            R"({"rule":"typical","epsilon":0.09,"delta":0.5})");
  for (const RuleInfo& info : ListRules()) {
    const Json resolved = *ResolveRule(info.name, "verifier");
    EXPECT_EQ(*ResolveRule(resolved, "verifier"), resolved);
  }
}

TEST(Registry, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(ErrorOf("gredy"), HasSubstr("arms.1.verifier.rule: expected one of greedy, exact_match"));
  EXPECT_THAT(ErrorOf("gredy"), HasSubstr("(nearest: greedy), found \"gredy\""));
  EXPECT_EQ(ErrorOf({{"rule", "typical"}, {"epsilom", 0.1}}),
            "arms.1.verifier.epsilom: unknown key; nearest is epsilon");
  EXPECT_EQ(ErrorOf({{"rule", "greedy"}, {"epsilon", 0.1}}),
            "arms.1.verifier.epsilon: unknown key; known are rule");
  EXPECT_EQ(ErrorOf({{"rule", "typical"}, {"delta", 2}}),
            "arms.1.verifier.delta: expected a number from 0 to 1, found 2");
  EXPECT_THAT(ErrorOf({{"rule", "relaxed"}, {"top_k", 0}, {"ratio", 0}}),
              HasSubstr("top_k: expected above 0 where ratio is 0"));
  for (const Json& acceptance : {Json(0.5), Json::array(), Json::array({0.5, 1.5}), Json::array({"0.5"})}) {
    EXPECT_THAT(ErrorOf({{"rule", "synthetic"}, {"acceptance", acceptance}}),
                HasSubstr("arms.1.verifier.acceptance: expected "));
  }
  EXPECT_THAT(ErrorOf(Json::object()), HasSubstr("arms.1.verifier.rule: expected the name of a rule"));
  EXPECT_EQ(ErrorOf(7), "arms.1.verifier: expected an object, found 7");
}

TEST(Law, IsTheWordOfTheResults) {
  EXPECT_STREQ(LawName(LawOf(Rule("block"), kCold)), "greedy_identical");
  EXPECT_STREQ(LawName(LawOf(Rule("block"), kWarm)), "exact_law");
  for (const Sampling& sampling : {kCold, kWarm}) {
    EXPECT_STREQ(LawName(LawOf(Rule("typical"), sampling)), "lossy");
    EXPECT_STREQ(LawName(LawOf(Rule("relaxed"), sampling)), "lossy");
    EXPECT_STREQ(LawName(LawOf(Rule("synthetic"), sampling)), "synthetic");
  }
}

TEST(CheckPairing, EachRuleForEachDraft) {
  for (const DraftKind& kind : AllKinds()) {
    const bool with = kind.proposal != Proposal::kSampledWithoutReplacement;
    const auto fits = [&kind](const char* rule, const Sampling& sampling) {
      return CheckPairing(Rule(rule), kind, sampling).ok();
    };
    EXPECT_TRUE(fits("greedy", kCold));
    EXPECT_FALSE(fits("greedy", kWarm));
    for (const Sampling& sampling : {kCold, kWarm}) {
      for (const char* rule :
           {"exact_match", "tree_target_only", "tree_recursive", "typical", "relaxed", "synthetic"})
        EXPECT_TRUE(fits(rule, sampling)) << rule;
      EXPECT_EQ(fits("rejection", sampling), kind.chain && with);
      EXPECT_EQ(fits("block", sampling), kind.chain && with && !kind.coupled);
      EXPECT_EQ(fits("traversal", sampling), !kind.coupled);
      EXPECT_EQ(fits("k_seq", sampling), kind.proposal == Proposal::kSampled);
    }
  }
}

// A refusal names the rules that would be accepted, all of them, and no lossy one.
TEST(CheckPairing, RefusalsNameTheRulesThatFit) {
  EXPECT_EQ(
      CheckPairing(Rule("block"), {Proposal::kSampled, true, true}, kWarm).message(),
      "rule \"block\" keeps the target's law for chains of deterministic or sampled tokens that are not "
      "coupled, not for a coupled sampled chain at temperature 0.7; use one of \"exact_match\", "
      "\"rejection\", \"tree_target_only\", \"tree_recursive\", \"k_seq\"");
  for (const RuleInfo& refused : ListRules()) {
    for (const DraftKind& kind : AllKinds()) {
      for (const Sampling& sampling : {kCold, kWarm}) {
        const absl::Status status = CheckPairing(Rule(refused.name), kind, sampling);
        if (status.ok()) continue;
        EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
        const std::string advice(status.message().substr(status.message().find("; use ")));
        for (const RuleInfo& info : ListRules()) {
          const std::string quoted = std::string("\"") + info.name + '"';
          EXPECT_EQ(advice.find(quoted) != std::string::npos, Rule(info.name).KeepsLaw(kind, sampling))
              << status;
        }
      }
    }
  }
}

TEST(CheckFitsSome, RefusesWhatFitsNoDraft) {
  for (const RuleInfo& info : ListRules()) {
    for (const Sampling& sampling : {kCold, kWarm}) {
      const auto kinds = AllKinds();
      const bool some = std::any_of(kinds.begin(), kinds.end(), [&](const DraftKind& kind) {
        return CheckPairing(Rule(info.name), kind, sampling).ok();
      });
      EXPECT_EQ(CheckFitsSome(Rule(info.name), sampling).ok(), some) << info.name;
    }
  }
  EXPECT_EQ(CheckFitsSome(Rule("greedy"), kWarm).message(),
            "rule \"greedy\" keeps the target's law for any draft at temperature 0, not for any at "
            "temperature 0.7");
}

TEST(DefaultRule, KeepsTheLawOfEveryDraft) {
  for (const DraftKind& kind : AllKinds()) {
    EXPECT_EQ(DefaultRule(kind, kCold), "greedy");
    EXPECT_TRUE(CheckPairing(Rule(DefaultRule(kind, kWarm)), kind, kWarm).ok()) << Describe(kind);
  }
  EXPECT_EQ(DefaultRule({.chain = true}, kWarm), "rejection");
  EXPECT_EQ(DefaultRule({.chain = false}, kWarm), "tree_recursive");
}

TokenTree Chain(std::vector<TokenId> tokens, const std::optional<Distribution>& q = std::nullopt) {
  TokenTree tree(0);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const int parent = static_cast<int>(i);
    if (q) tree.SetProposal(parent, Proposal::kSampled, q);
    tree.Add(parent, tokens[i]);
  }
  return tree;
}

bool Judges(const RuleInfo& info, Proposal proposal, bool chain) {
  return CheckPairing(Rule(info.name), {proposal, chain, false}, kCold).ok();
}

TEST(Verdict, AnEmptyDraftGivesOneBonus) {
  const FixedRows rows(Distribution::PointMass(3));
  KeyedRandoms randoms(1, 2, 3);
  for (const RuleInfo& info : ListRules()) {
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
    for (const RuleInfo& info : ListRules()) {
      if (Rule(info.name).aim() == Law::kSynthetic || !Judges(info, Proposal::kDeterministic, true)) continue;
      const Verdict verdict = Rule(info.name).Verify(Chain({3, 3, 1, 3}), rows, randoms);
      EXPECT_THAT(verdict.accepted, ElementsAre(1, 2)) << info.name;
      EXPECT_EQ(verdict.next, 3);
      EXPECT_FALSE(verdict.bonus);
      ASSERT_EQ(verdict.examined.size(), 3u) << info.name;
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
  const Distribution q = Distribution::FromWeights(std::vector<double>{1, 1});
  const FixedRows rows(Distribution::FromWeights(std::vector<double>{1, 3}));
  for (const RuleInfo& info : ListRules()) {
    if (std::string(info.name) == "greedy") continue;  // its p is 1 or 0
    for (uint64_t seed = 0; seed < 20; ++seed) {
      KeyedRandoms randoms(seed, 2, 3);
      const Verdict verdict = Rule(info.name).Verify(Chain({1, 0, 1}, q), rows, randoms);
      EXPECT_EQ(verdict.examined.size(), verdict.accepted.size() + (verdict.bonus ? 0 : 1)) << info.name;
      for (std::size_t i = 0; i < verdict.examined.size(); ++i) {
        EXPECT_EQ(verdict.examined[i].node, static_cast<int>(i) + 1);
        EXPECT_EQ(verdict.examined[i].p, i == 1 ? 0.25 : 0.75);
        EXPECT_EQ(verdict.examined[i].q, 0.5);
        EXPECT_EQ(verdict.examined[i].accepted, i < verdict.accepted.size());
      }
    }
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
  for (const char* name : {"greedy", "exact_match", "tree_target_only", "tree_recursive", "traversal"}) {
    const Verdict verdict = Rule(name).Verify(tree, rows, randoms);
    EXPECT_THAT(verdict.accepted, ElementsAre(2, 4)) << name;
    EXPECT_EQ(verdict.next, 6);
    EXPECT_TRUE(verdict.bonus);
    ASSERT_EQ(verdict.examined.size(), 3u);  // 5, then 6, then 6; never 7
    EXPECT_EQ(verdict.examined[0].node, 1);
    EXPECT_FALSE(verdict.examined[0].accepted);
    EXPECT_EQ(verdict.examined[2].node, 4);
  }
}

TEST(Rules, RefuseWhatTheyCannotJudge) {
  const FixedRows rows(Distribution::PointMass(6));
  KeyedRandoms randoms(1, 2, 3);
  TokenTree fork(0);
  fork.Add(0, 1);
  fork.Add(0, 2);
  EXPECT_DEATH(Rule("rejection").Verify(fork, rows, randoms), "is_chain");
  EXPECT_DEATH(Rule("block").Verify(fork, rows, randoms), "is_chain");
  EXPECT_DEATH(Rule("k_seq").Verify(fork, rows, randoms), "kSampled");
  // A token that q cannot have drawn.
  for (const char* rule : {"rejection", "block", "tree_recursive", "k_seq", "traversal"}) {
    EXPECT_DEATH(Rule(rule).Verify(Chain({1}, Distribution::PointMass(2)), rows, randoms), "> 0") << rule;
  }
}

}  // namespace
}  // namespace forerun
