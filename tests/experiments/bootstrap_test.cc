#include "experiments/report/bootstrap.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace forerun {
namespace {

TEST(Bootstrap, EqualRatiosHaveNoSpread) {
  const std::vector<RatioTerm> terms(5, {3, 2});
  const auto interval = BootstrapRatio(terms);
  ASSERT_TRUE(interval.has_value());
  EXPECT_DOUBLE_EQ(interval->low, 1.5);
  EXPECT_DOUBLE_EQ(interval->high, 1.5);
  EXPECT_FALSE(BootstrapRatio(std::vector<RatioTerm>(1)).has_value());
}

TEST(Bootstrap, IsRepeatableAndContainsTheEstimate) {
  std::vector<RatioTerm> terms;
  for (int i = 0; i < 12; ++i) terms.push_back({1.0 + i, 2.0 + (i * 5) % 7});
  const auto interval = BootstrapRatio(terms);
  const auto again = BootstrapRatio(terms);
  EXPECT_EQ(interval->low, again->low);
  EXPECT_EQ(interval->high, again->high);
  EXPECT_LT(interval->low, RatioOfSums(terms));
  EXPECT_GT(interval->high, RatioOfSums(terms));
}

// The interval should hold the true ratio about 95 times in 100; a 50 % interval would fail this.
TEST(Bootstrap, CoversTheTruth) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 0.2);
  int covered = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<RatioTerm> terms(30);
    for (RatioTerm& term : terms) term = {1.5 + noise(random), 1 + noise(random)};
    const auto interval = BootstrapRatio(terms);
    covered += interval->low <= 1.5 && 1.5 <= interval->high;
  }
  EXPECT_GE(covered, kTrials * 88 / 100);
  EXPECT_LT(covered, kTrials);
}

}  // namespace
}  // namespace forerun
