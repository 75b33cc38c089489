// What each policy makes of the same experience, and that a choice reaches the drafter.
#include <algorithm>
#include <vector>

#include "core/model/table_model.h"
#include "drafters/joined/adaptive_costs.h"
#include "drafters/joined/adaptive_policy.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"

namespace forerun {
namespace {

// Rounds in which part i's drafts stand for `stands[i]` tokens; the arms of all rounds.
std::vector<DraftArm> Play(const AdaptiveOptions& options, const std::vector<int>& stands, int rounds,
                           int budget = 16) {
  const auto policy = MakeAdaptivePolicy(options);
  std::vector<DraftArm> arms;
  const std::vector<int> not_asked(stands.size(), kNotAsked);
  for (int round = 0; round < rounds; ++round) {
    arms.push_back(policy->Choose(budget, not_asked));
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
  AdaptiveOptions steep = Method("cost_model");
  steep.verify_cost = {{1, 1}, {2, 3}};
  EXPECT_EQ(Play(steep, {0}, 30).back().length, 0) << "not to draft is an arm like any other";
}

TEST(AdaptivePolicy, CostModelForgetsWhatIsLongAgo) {
  const AdaptiveOptions options = Method("cost_model");
  const auto policy = MakeAdaptivePolicy(options);
  const std::vector<int> not_asked = {kNotAsked};
  for (int i = 0; i < 50; ++i) policy->Learn({0, 4}, {.drafted = 4, .accepted = 0});
  EXPECT_EQ(policy->Choose(16, not_asked).length, 0);
  int rounds = 0;
  while (policy->Choose(16, not_asked).length == 0 && rounds < 1000) ++rounds;
  EXPECT_GT(rounds, 10);
  EXPECT_LT(rounds, 300) << "a text that becomes easy is tried again";
}

TEST(AdaptivePolicy, CostModelWeighsWhatIsAtHand) {
  const AdaptiveOptions options = Method("cost_model", {0, 0.25});
  const auto policy = MakeAdaptivePolicy(options);
  EXPECT_EQ(policy->Choose(16, std::vector<int>{0, kNotAsked}).part, 1) << "nothing at hand: the dearer part";
  // Offers of two nodes always fail, offers of eight always stand; nobody has to draft them to find out.
  for (int i = 0; i < 40; ++i) {
    policy->LearnOffer(0, 2, 1, 0);
    policy->LearnOffer(0, 8, 8, 8);
    policy->Learn({1, 4}, {.drafted = 4, .accepted = 2});
  }
  EXPECT_EQ(policy->Choose(16, std::vector<int>{2, kNotAsked}).part, 1);
  const DraftArm long_offer = policy->Choose(16, std::vector<int>{8, kNotAsked});
  EXPECT_EQ(long_offer.part, 0);
  EXPECT_EQ(long_offer.length, 8);
}

TEST(AdaptivePolicy, OffersOfASizeHaveTheirOwnRate) {
  OfferEstimate estimate;
  EXPECT_DOUBLE_EQ(estimate.ExpectedTokens(4, 2), 1 + 0.7 + 0.49);
  for (int i = 0; i < 1000; ++i) {
    estimate.Learn(1, 1, 0);
    estimate.Learn(4, 4, 4);
    estimate.Learn(0, 0, 0);
  }
  EXPECT_NEAR(estimate.ExpectedTokens(1, 1), 1, 0.01);
  EXPECT_NEAR(estimate.ExpectedTokens(4, 4), 5, 0.05);
  EXPECT_NEAR(estimate.ExpectedTokens(20, 1), 1 + 0.5, 0.35) << "no offer so long was seen: all sizes speak";
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

TEST_F(Adaptive, DraftsWhatIsAtHandWithoutAModel) {
  const auto drafter =
      MakeDrafterOrDie(R"({"type": "adaptive", "parts": [{"type": "ngram"}, {"type": "sam"},
                                            {"type": "draft_model", "draft_cost": 0.5}]})",
                       {.target = target_.get(), .draft = target_.get(), .pool = pool_.get()});
  Request request;
  request.prompt = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
  request.drafter = drafter.get();
  request.verifier = &Rule("greedy");
  request.num_speculative_tokens = 8;
  request.max_new_tokens = 60;
  const Completion completion = Complete(*target_, *pool_, request);
  int drafted = 0;
  for (const RoundRecord& round : completion.rounds) drafted += round.drafted;
  EXPECT_GE(drafted, 45);
  EXPECT_EQ(completion.result.output.size(), 60u);
}

TEST_F(Adaptive, MeasuresItsCosts) {
  const auto drafter = MakeDrafterOrDie(
      R"({"type": "adaptive", "adaptive": {"costs": "measured"}, "parts": [{"type": "ngram"}, {"type": "early_exit"}]})",
      {.target = target_.get(), .pool = pool_.get()});
  EXPECT_EQ(drafter->note().find("cost_model by measured costs of ngram"), 0u) << drafter->note();
  AdaptiveOptions options;
  const DrafterResources resources = {.target = target_.get(), .pool = pool_.get()};
  std::vector<DrafterPart> parts(2);
  parts[0].drafter = MakeDrafterOrDie(R"({"type": "oracle"})", resources);
  parts[1].drafter = MakeDrafterOrDie(R"({"type": "none"})", resources);
  ASSERT_TRUE(MeasureCosts(parts, resources, &options).ok());
  ASSERT_EQ(options.draft_costs.size(), 2u);
  EXPECT_GT(options.draft_costs[0], options.draft_costs[1]) << "a word of the oracle is a step of the target";
  EXPECT_GE(options.verify_cost.size(), 5u);
  for (std::size_t i = 1; i < options.verify_cost.size(); ++i) {
    EXPECT_GE(options.verify_cost[i].second, options.verify_cost[i - 1].second);
  }
  EXPECT_EQ(
      Message(R"({"type": "adaptive", "adaptive": {"costs": "measured", "verify_cost": [[1, 1], [2, 2]]}})"),
      "drafter.adaptive.verify_cost: expected none with measured costs, found an array");
  EXPECT_EQ(Message(R"({"type": "adaptive", "adaptive": {"costs": "measured"},
                        "parts": [{"type": "ngram", "draft_cost": 0}]})"),
            "drafter.parts.0.draft_cost: expected none with measured costs, found one");
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
