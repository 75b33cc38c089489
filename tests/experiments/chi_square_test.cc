#include "experiments/lossless/chi_square.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace forerun {
namespace {

// Q(1, x) = e^-x; Q(1/2, x) = erfc(sqrt x); Q(n, x) is a Poisson sum.
TEST(UpperRegularizedGamma, AgreesWithClosedForms) {
  for (const double x : {0.01, 0.5, 1.0, 1.9, 2.1, 5.0, 30.0}) {
    EXPECT_NEAR(UpperRegularizedGamma(1, x), std::exp(-x), 1e-13);
    EXPECT_NEAR(UpperRegularizedGamma(0.5, x), std::erfc(std::sqrt(x)), 1e-13);
    double poisson = 0, term = std::exp(-x);
    for (int n = 0; n < 20; ++n, term *= x / n) poisson += term;
    EXPECT_NEAR(UpperRegularizedGamma(20, x), poisson, 1e-12);
  }
  EXPECT_EQ(UpperRegularizedGamma(3, 0), 1);
}

// Tails keep their relative accuracy: a p-value of 1e-20 is not 0.
TEST(UpperRegularizedGamma, IsAccurateFarOut) {
  EXPECT_NEAR(UpperRegularizedGamma(1, 100) / std::exp(-100.0), 1, 1e-10);
}

// Tables of the 5 % and 0.1 % points.
TEST(ChiSquare, KnownPoints) {
  EXPECT_NEAR(UpperRegularizedGamma(0.5, 3.841458820694124 / 2), 0.05, 1e-9);
  EXPECT_NEAR(UpperRegularizedGamma(5, 18.307038053275146 / 2), 0.05, 1e-9);
  EXPECT_NEAR(UpperRegularizedGamma(50, 149.449252848 / 2), 0.001, 1e-7);
}

TEST(ChiSquare, StatisticByHand) {
  // (10 - 20)^2 / 20 + (30 - 20)^2 / 20 = 10, one degree of freedom.
  const std::vector<int64_t> observed = {10, 30};
  const std::vector<double> even = {0.5, 0.5};
  EXPECT_NEAR(ChiSquarePValue(observed, even), std::erfc(std::sqrt(5.0)), 1e-12);
  EXPECT_EQ(ChiSquarePValue(std::vector<int64_t>{20, 20}, even), 1);
}

TEST(ChiSquare, MergesSmallCells) {
  // The last three expect 2 each, and are one cell of 6: (6 - 6)^2 adds nothing.
  const std::vector<double> probability = {0.94, 0.02, 0.02, 0.02};
  EXPECT_EQ(ChiSquarePValue(std::vector<int64_t>{94, 6, 0, 0}, probability), 1);
}

TEST(ChiSquare, TheImpossibleHasNoChance) {
  EXPECT_EQ(ChiSquarePValue(std::vector<int64_t>{50, 50, 1}, std::vector<double>{0.5, 0.5, 0}), 0);
}

// At no shift the power is the alarm itself; a central chi-square with a Poisson number of degrees by hand.
TEST(ChiSquarePower, GrowsFromTheAlarm) {
  EXPECT_NEAR(ChiSquarePower(6, 1000, 0, 0.05), 0.05, 1e-9);
  EXPECT_LT(ChiSquarePower(6, 1000, 0.02, 1e-6), ChiSquarePower(6, 1000, 0.05, 1e-6));
  EXPECT_LT(ChiSquarePower(6, 1000, 0.05, 1e-6), ChiSquarePower(6, 4000, 0.05, 1e-6));
  EXPECT_GT(ChiSquarePower(6, 20000, 0.05, 1e-8), 0.999);
  // One degree of freedom: |N(2 shift sqrt n, 1)| above the 5 % point.
  const double mean = 2 * 0.05 * std::sqrt(400.0), point = 1.959963984540054;
  const double above = 0.5 * std::erfc((point - mean) / std::sqrt(2.0));
  const double below = 0.5 * std::erfc((point + mean) / std::sqrt(2.0));
  EXPECT_NEAR(ChiSquarePower(2, 400, 0.05, 0.05), above + below, 1e-9);
}

// Holm: 0.01 against 0.05 / 4, 0.013 against 0.05 / 3, then 0.03 is above 0.05 / 2 and ends it.
TEST(HolmRejections, StepsDown) {
  EXPECT_EQ(HolmRejections(std::vector<double>{0.04, 0.01, 0.03, 0.013}, 0.05),
            (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(HolmRejections(std::vector<double>{0.5, 0.4}, 0.05), (std::vector<bool>{false, false}));
  EXPECT_TRUE(HolmRejections({}, 0.05).empty());
}

}  // namespace
}  // namespace forerun
