// What each policy makes of the same experience, and that a choice reaches the drafter.
#include <algorithm>
#include <vector>

#include "core/model/table_model.h"
#include "drafters/adaptive_policy.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"

namespace forerun {
namespace {

// Rounds in which part i's drafts stand for `stands[i]` tokens; the arms of all rounds.
std::vector<DraftArm> Play(const AdaptiveOptions& options, const std::vector<int>& stands, int rounds,
                           int budget = 16) {
  const auto policy = MakeAdaptivePolicy(options);
  std::vector<DraftArm> arms;
  for (int round = 0; round < rounds; ++round) {
    arms.push_back(policy->Choose(budget));
    const DraftArm& arm = arms.back();
    EXPECT_LE(arm.length, budget);
    policy->Learn(arm, {.drafted = arm.length, .accepted = std::min(arm.length, stands[arm.part])});
  }
  return arms;
}

AdaptiveOptions Method(const char* method, std::vector<double> draft_costs = {0}) {
  AdaptiveOptions options;
  options.method = method;
  options.draft_costs = std::move(draft_costs);
  return options;
}

TEST(AdaptivePolicy, CostsAreLinearBetweenPointsAndBeyond) {
  AdaptiveOptions options;
  options.verify_cost = {{1, 1}, {5, 2}, {9, 6}};
  options.draft_costs = {0, 0.5};
  EXPECT_DOUBLE_EQ(RoundCost(options, 0, 0), 1);
  EXPECT_DOUBLE_EQ(RoundCost(options, 0, 2), 1.5);
  EXPECT_DOUBLE_EQ(RoundCost(options, 0, 6), 4);
  EXPECT_DOUBLE_EQ(RoundCost(options, 0, 10), 8);
  EXPECT_DOUBLE_EQ(RoundCost(options, 1, 2), 2.5);
}

TEST(AdaptivePolicy, HeuristicGrowsByTwoAndShrinksByOne) {
  std::vector<int> lengths;
  for (const DraftArm& arm : Play(Method("heuristic"), {8}, 7)) lengths.push_back(arm.length);
  EXPECT_EQ(lengths, (std::vector<int>{5, 7, 9, 8, 10, 9, 8}));
  EXPECT_EQ(Play(Method("heuristic"), {0}, 9).back().length, 1);
}

TEST(AdaptivePolicy, ConfidenceGoesAsDeepAsDraftsStand) {
  EXPECT_EQ(Play(Method("confidence"), {16}, 40).back().length, 16);
  EXPECT_EQ(Play(Method("confidence"), {3}, 40).back().length, 3);
  EXPECT_EQ(Play(Method("confidence"), {0}, 40).back().length, 1);
  AdaptiveOptions bold = Method("confidence");
  bold.threshold = 0.001;
  EXPECT_GT(Play(bold, {3}, 40).back().length, 3);
}

TEST(AdaptivePolicy, CostModelTakesTheBetterPartAndTheLengthThatPays) {
  const DraftArm free = Play(Method("cost_model", {0, 0}), {1, 8}, 60).back();
  EXPECT_EQ(free.part, 1);
  EXPECT_EQ(free.length, 8);
  // The better drafter is so dear that the other one is worth more.
  const DraftArm dear = Play(Method("cost_model", {0, 3}), {1, 8}, 60).back();
  EXPECT_EQ(dear.part, 0);
  AdaptiveOptions flat = Method("cost_model");
  flat.verify_cost = {{1, 1}, {17, 1}};  // rows cost nothing: the longest never loses
  EXPECT_EQ(Play(flat, {16}, 30).back().length, 16);
  AdaptiveOptions may_rest = Method("cost_model");
  may_rest.lengths = {0, 4};
  may_rest.verify_cost = {{1, 1}, {2, 3}};
  EXPECT_EQ(Play(may_rest, {0}, 30).back().length, 0) << "not to draft is an arm like any other";
}

TEST(AdaptivePolicy, BanditTriesEveryArmAndSettles) {
  AdaptiveOptions options = Method("bandit", {0, 0});
  options.lengths = {1, 4};
  const std::vector<DraftArm> arms = Play(options, {0, 4}, 300);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(arms[i].part, i / 2);
    EXPECT_EQ(arms[i].length, i % 2 == 0 ? 1 : 4);
  }
  const auto best = std::count_if(arms.begin(), arms.end(),
                                  [](const DraftArm& arm) { return arm.part == 1 && arm.length == 4; });
  EXPECT_GT(best, 200);
}

TEST(AdaptivePolicy, ABudgetCutsArmsAndCountsNoneTwice) {
  AdaptiveOptions options = Method("bandit");
  std::vector<int> lengths;
  for (const DraftArm& arm : Play(options, {0}, 3, 3)) lengths.push_back(arm.length);
  EXPECT_EQ(lengths, (std::vector<int>{1, 2, 3}));
}

TEST(SurvivalEstimate, StartsAtThePriorAndFollowsWhatHappens) {
  SurvivalEstimate estimate;
  EXPECT_DOUBLE_EQ(estimate.ExpectedTokens(2), 1 + 0.7 + 0.49);
  for (int i = 0; i < 1000; ++i) estimate.Learn(4, {.drafted = 2, .accepted = i % 2 == 0 ? 2 : 0});
  EXPECT_NEAR(estimate.Conditional(1), 0.5, 0.01);
  EXPECT_NEAR(estimate.Conditional(2), 1, 0.01);
  EXPECT_NEAR(estimate.Conditional(3), 0, 0.01);  // asked for and not drafted: it did not stand
  EXPECT_NEAR(estimate.ExpectedTokens(4), 1 + 0.5 + 0.5, 0.02);
  EXPECT_NEAR(estimate.drafted_share(), 0.5, 0.01);
}

class Adaptive : public testing::Test {
 protected:
  Adaptive() {
    for (TokenId token = 0; token < 6; ++token) {
      const std::span<double> row = circle_.Row({&token, 1});
      std::fill(row.begin(), row.end(), 0.0);
      row[(token + 1) % 6] = 1;
    }
    target_ = std::make_unique<TableModel>(*pool_, circle_);
  }
  std::string Message(const char* json) {
    const auto made = MakeDrafter(*ParseJson(json, "test"),
                                  {.target = target_.get(), .draft = target_.get(), .pool = pool_.get()});
    return made.ok() ? "" : std::string(made.status().message());
  }

  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  ContextTable circle_{6, 1};
  std::unique_ptr<TableModel> target_;
};

TEST_F(Adaptive, DraftsLongerWhereDraftsStandAndReplays) {
  const auto drafter = MakeDrafterOrDie(R"({"type": "adaptive", "adaptive": {"method": "confidence"}})",
                                        {.target = target_.get(), .pool = pool_.get()});
  EXPECT_EQ(drafter->note(), "confidence by configured costs of ngram");
  EXPECT_TRUE(drafter->chains_only());
  Request request;
  request.prompt = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
  request.drafter = drafter.get();
  request.verifier = &Rule("greedy");
  request.num_speculative_tokens = 12;
  request.max_new_tokens = 150;
  const Completion one = Complete(*target_, *pool_, request), again = Complete(*target_, *pool_, request);
  ASSERT_EQ(one.rounds.size(), again.rounds.size());
  for (std::size_t i = 0; i < one.rounds.size(); ++i)
    EXPECT_EQ(one.rounds[i].drafted, again.rounds[i].drafted);
  EXPECT_LT(one.rounds[0].drafted, 5);
  EXPECT_GE(one.rounds[one.rounds.size() - 3].drafted, 6);
}

TEST_F(Adaptive, RefusesPartsThatItsMethodCannotCompare) {
  EXPECT_EQ(Message(R"({"type": "adaptive", "adaptive": {"method": "heuristic"},
                        "parts": [{"type": "ngram"}, {"type": "random"}]})"),
            "drafter.parts: method heuristic expects one drafter, found 2");
  EXPECT_EQ(Message(R"({"type": "adaptive", "parts": [{"type": "token_recycling"}]})"),
            "drafter.parts.0: method cost_model expects chains, found token_recycling; bandit takes trees");
  EXPECT_EQ(Message(R"({"type": "adaptive", "parts": [{"type": "ngram"},
                        {"type": "draft_model", "sample": "sampled"}]})"),
            "drafter.parts.1: expected deterministic guesses as of the first drafter, found sampled ones of "
            "draft_model");
  for (const char* curve : {"[[1, 1]]", "[[1, 1], [1, 2]]", "[[1, 2], [4, 1]]", "[[1, 1], [4]]", "[1, 2]"}) {
    const std::string json =
        std::string(R"({"type": "adaptive", "adaptive": {"verify_cost": )") + curve + "}}";
    EXPECT_EQ(Message(json.c_str()).find("drafter.adaptive.verify_cost: expected"), 0u) << curve;
  }
  EXPECT_EQ(
      Message(R"({"type": "adaptive", "adaptive": {"lengths": [2, 2]}})").find("drafter.adaptive.lengths"),
      0u);
}

}  // namespace
}  // namespace forerun
