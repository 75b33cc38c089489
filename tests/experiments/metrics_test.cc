#include "experiments/report/metrics.h"

#include <deque>
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::Optional;

struct RoundSpec {
  int drafted = 0;
  int accepted = 0;
  int truncated = 0;
  bool length_limited = false;
};

RoundRecord MakeRound(const RoundSpec& spec) {
  RoundRecord round;
  round.drafted = round.max_depth = spec.drafted;
  round.accepted = spec.accepted;
  round.truncated = spec.truncated;
  round.length_limited = spec.length_limited;
  const int emitted = spec.accepted + 1 - (spec.truncated > 0 ? 1 : 0);
  round.emitted.assign(emitted, 7);
  round.draft_seconds = 0.001 * spec.drafted;
  round.verify_seconds = 0.010;
  round.sample_seconds = 0.002;
  round.other_seconds = 0.001;
  return round;
}

// Owns what Requests point at.
class Log {
 public:
  LoggedRequest& Add(const std::string& prompt, const std::vector<RoundSpec>& rounds, double decode_seconds) {
    LoggedRequest& request = requests_.emplace_back();
    request.row.prompt = prompt;
    request.row.decode_seconds = decode_seconds;
    for (const RoundSpec& spec : rounds) {
      request.rounds.push_back(MakeRound(spec));
      for (const TokenId token : request.rounds.back().emitted) request.row.output.push_back(token);
    }
    return request;
  }
  Requests All() const {
    Requests all;
    for (const LoggedRequest& request : requests_) all.push_back(&request);
    return all;
  }

 private:
  std::deque<LoggedRequest> requests_;
};

// Two requests, worked out by hand below.
Log Example() {
  Log log;
  log.Add("a", {{.drafted = 4, .accepted = 4}, {.drafted = 4, .accepted = 1}, {.drafted = 0, .accepted = 0}},
          0.5);
  log.Add("b",
          {{.drafted = 4, .accepted = 2},
           {.drafted = 2, .accepted = 2, .length_limited = true},
           {.drafted = 4, .accepted = 1, .truncated = 2}},
          0.25);
  return log;
}

TEST(Metrics, CountsByHand) {
  const Log log = Example();
  const RoundCounts counts = CountRounds(log.All());
  EXPECT_EQ(counts.rounds, 6);
  EXPECT_EQ(counts.truncated, 1);
  EXPECT_EQ(counts.length_limited, 1);
  EXPECT_EQ(counts.empty_draft, 1);
  EXPECT_EQ(counts.drafted, 18);
  EXPECT_EQ(counts.accepted, 10);
  EXPECT_EQ(counts.emitted, 5 + 2 + 1 + 3 + 3 + 1);
}

TEST(Metrics, TauLeavesOutTruncatedAndLengthLimitedRounds) {
  const Log log = Example();
  // Rounds that count: 4, 1, 0 of request a and 2 of request b.
  EXPECT_DOUBLE_EQ(*Tau(log.All()), 1 + 7.0 / 4);
  EXPECT_DOUBLE_EQ(*TauRequestMean(log.All()), ((1 + 5.0 / 3) + (1 + 2.0)) / 2);
  EXPECT_FALSE(Tau({}).has_value());
}

TEST(Metrics, RatesByHand) {
  const Log log = Example();
  EXPECT_DOUBLE_EQ(*AcceptanceRate(log.All()), 10.0 / 18);
  EXPECT_DOUBLE_EQ(*Coverage(log.All()), 5.0 / 6);
  EXPECT_DOUBLE_EQ(*TokensPerSecond(log.All()), 15 / 0.75);
  Log plain;
  plain.Add("a", {{}, {}}, 1);
  EXPECT_FALSE(AcceptanceRate(plain.All()).has_value());
  EXPECT_DOUBLE_EQ(*Coverage(plain.All()), 0);
  EXPECT_DOUBLE_EQ(*Tau(plain.All()), 1);
}

TEST(Metrics, PositionsByHand) {
  const Log log = Example();
  const Positions positions = MeasurePositions(log.All());
  // Not truncated, with a draft: (4 of 4), (1 of 4), (2 of 4), (2 of 2).
  EXPECT_THAT(positions.proposed, ElementsAre(4, 4, 3, 3));
  EXPECT_THAT(positions.survival,
              ElementsAre(DoubleEq(1), DoubleEq(3.0 / 4), DoubleEq(1.0 / 3), DoubleEq(1.0 / 3)));
  // Position 3: proposed 3 and the first two accepted in (4 of 4), (2 of 4): one of two went on.
  EXPECT_THAT(positions.conditional, ElementsAre(Optional(DoubleEq(1)), Optional(DoubleEq(3.0 / 4)),
                                                 Optional(DoubleEq(1.0 / 2)), Optional(DoubleEq(1))));
}

TEST(Metrics, APositionThatNoRoundReachedHasNoConditional) {
  Log log;
  log.Add("a", {{.drafted = 3, .accepted = 0}}, 1);
  const Positions positions = MeasurePositions(log.All());
  EXPECT_THAT(positions.survival, ElementsAre(0, 0, 0));
  EXPECT_THAT(positions.conditional, ElementsAre(Optional(0), std::nullopt, std::nullopt));
}

TEST(Metrics, TimeByHand) {
  const Log log = Example();
  const TimeSplit time = SplitTime(log.All());
  EXPECT_NEAR(time.draft, 0.018, 1e-12);
  EXPECT_NEAR(time.verify, 0.060, 1e-12);
  EXPECT_NEAR(time.sample, 0.012, 1e-12);
  EXPECT_NEAR(time.other, 0.006, 1e-12);
  EXPECT_NEAR(*MillisecondsPerRound(log.All()), 96.0 / 6, 1e-9);
}

TEST(Metrics, FailedRequestsCountNowhere) {
  Log log = Example();
  log.Add("c", {{.drafted = 4, .accepted = 4}}, 9).row.error = "out of KV memory";
  const Log clean = Example();
  EXPECT_EQ(CountRounds(log.All()).rounds, CountRounds(clean.All()).rounds);
  EXPECT_EQ(TokensPerSecond(log.All()), TokensPerSecond(clean.All()));
  EXPECT_EQ(Tau(log.All()), Tau(clean.All()));
}

// A baseline request of `tokens` rounds.
void AddBaseline(Log& log, const std::string& prompt, int repetition, int tokens, double seconds) {
  log.Add(prompt, std::vector<RoundSpec>(tokens), seconds).row.repetition = repetition;
}

TEST(Metrics, SpeedupPairsEachPromptWithItsBracket) {
  Log baseline, arm;
  AddBaseline(baseline, "a", 0, 10, 1.0);
  AddBaseline(baseline, "a", 1, 10, 1.2);
  AddBaseline(baseline, "a", 2, 10, 99);  // brackets another arm
  AddBaseline(baseline, "b", 0, 4, 0.4);
  AddBaseline(baseline, "b", 1, 4, 0.4);
  AddBaseline(baseline, "c", 0, 4, 0.4);  // its second run is missing: not paired
  for (const char* prompt : {"a", "b", "c"}) {
    LoggedRequest& request =
        arm.Add(prompt, std::vector<RoundSpec>(prompt[0] == 'a' ? 10 : 4), prompt[0] == 'a' ? 0.55 : 0.8);
    request.row.baseline_before = 0;
    request.row.baseline_after = 1;
  }
  const std::vector<RatioTerm> terms = SpeedupTerms(arm.All(), baseline.All());
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_NEAR(terms[0].numerator, 1.1, 1e-12);  // (1.0 + 1.2) s / 20 tokens, for 10 tokens
  EXPECT_NEAR(terms[0].denominator, 0.55, 1e-12);
  EXPECT_NEAR(terms[1].numerator, 0.4, 1e-12);
  EXPECT_NEAR(RatioOfSums(terms), 1.5 / 1.35, 1e-12);
}

// Texts may differ in length: what counts is the other arm's time a token.
TEST(Metrics, SpeedupAgainstAnotherArm) {
  Log arm, other;
  arm.Add("a", std::vector<RoundSpec>(6), 0.3);
  arm.Add("b", std::vector<RoundSpec>(4), 0.4);
  arm.Add("c", std::vector<RoundSpec>(4), 0.4);  // the other lacks it
  other.Add("a", std::vector<RoundSpec>(4), 0.4);
  other.Add("b", std::vector<RoundSpec>(4), 0.2);
  const std::vector<RatioTerm> terms = SpeedupTermsAgainst(arm.All(), other.All());
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_NEAR(terms[0].numerator, 0.6, 1e-12);  // 0.1 s a token, for 6 tokens
  EXPECT_NEAR(terms[0].denominator, 0.3, 1e-12);
  EXPECT_NEAR(RatioOfSums(terms), 0.8 / 0.7, 1e-12);
}

TEST(Metrics, OutputsAreComparedIdByIdWithTheFirstBaselineRun) {
  Log baseline, arm;
  AddBaseline(baseline, "a", 0, 3, 1);
  AddBaseline(baseline, "b", 0, 3, 1);
  arm.Add("a", std::vector<RoundSpec>(3), 1);
  arm.Add("b", std::vector<RoundSpec>(3), 1).row.output[2] = 8;
  arm.Add("x", std::vector<RoundSpec>(3), 1);  // no baseline
  const Identity identity = CompareOutputs(arm.All(), baseline.All());
  EXPECT_EQ(identity.identical, 1);
  EXPECT_EQ(identity.compared, 2);
}

TEST(Metrics, CostsAreRelativeToOneRow) {
  Log baseline, arm;
  AddBaseline(baseline, "a", 0, 4, 1);  // t(1) = 10 ms
  arm.Add("a", {{.drafted = 4, .accepted = 1}}, 1);
  arm.All();
  EXPECT_NEAR(*DraftCost(arm.All(), baseline.All()), 0.1, 1e-12);  // 1 ms a drafted token
  EXPECT_NEAR(*VerifyCost(arm.All(), baseline.All()), 1.0, 1e-12);
  EXPECT_FALSE(DraftCost(baseline.All(), baseline.All()).has_value());
}

// Over random logs: rates are probabilities, survival never rises while every round proposes as much, and the
// survival is the running product of the conditionals then.
TEST(Metrics, PropertiesHoldForRandomLogs) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    Log log;
    const int depth = static_cast<int>(random() % 8) + 1;
    const int num_requests = static_cast<int>(random() % 4) + 1;
    for (int i = 0; i < num_requests; ++i) {
      std::vector<RoundSpec> rounds(random() % 20 + 1);
      for (RoundSpec& round : rounds) {
        round.drafted = depth;
        round.accepted = static_cast<int>(random() % (depth + 1));
      }
      log.Add(std::to_string(i), rounds, 1);
    }
    const RoundCounts counts = CountRounds(log.All());
    EXPECT_EQ(counts.emitted, counts.accepted + counts.rounds);
    EXPECT_NEAR(*Tau(log.All()), static_cast<double>(counts.emitted) / static_cast<double>(counts.rounds),
                1e-9);
    const Positions positions = MeasurePositions(log.All());
    double product = 1;
    for (std::size_t i = 0; i < positions.survival.size(); ++i) {
      EXPECT_LE(positions.conditional[i].value_or(0), 1);
      product *= positions.conditional[i].value_or(0);
      EXPECT_NEAR(positions.survival[i], product, 1e-9);
    }
    EXPECT_LE(*AcceptanceRate(log.All()), 1);
    double sum = 1;
    for (const double survival : positions.survival) sum += survival;
    EXPECT_NEAR(sum, *Tau(log.All()), 1e-9);  // tau = 1 + sum of survivals
  }
}

}  // namespace
}  // namespace forerun
