#include "core/sampling/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "experiments/lossless/chi_square.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using testing::ElementsAre;

constexpr double kBelowOne = 1 - 0x1p-53;

std::vector<double> RandomWeights(int size, uint64_t seed, bool zeros = true) {
  std::vector<double> weights;
  for (int i = 0; i < size; ++i) {
    const double u = Uniform({.seed = seed}, i);
    weights.push_back(zeros && u < 0.3 ? 0 : u * u * u);
  }
  weights[size / 2] = 1;
  return weights;
}

double Sum(const Distribution& p) {
  double sum = 0;
  for (const double probability : p.probabilities()) sum += probability;
  return sum;
}

TEST(Distribution, FromWeightsNormalisesAndDropsZeros) {
  const Distribution p = Distribution::FromWeights(std::vector<double>{0, 1, 0, 3});
  EXPECT_THAT(p.tokens(), ElementsAre(1, 3));
  EXPECT_THAT(p.probabilities(), ElementsAre(0.25, 0.75));
  EXPECT_EQ(p[0], 0);
  EXPECT_EQ(p[3], 0.75);
  EXPECT_EQ(p[99], 0);
  EXPECT_EQ(p[-1], 0);
}

TEST(Distribution, ArgmaxTakesTheLowestOfEqual) {
  EXPECT_EQ(Distribution::FromWeights(std::vector<double>{1, 2, 2}).Argmax(), 1);
  EXPECT_EQ(Distribution::PointMass(151935).Argmax(), 151935);
}

TEST(Distribution, EmptyHasNoMass) {
  EXPECT_TRUE(Distribution().empty());
  EXPECT_EQ(Distribution()[0], 0);
  EXPECT_EQ(Overlap(Distribution(), Distribution::PointMass(0)), 0);
}

TEST(Distribution, ResidualAndOverlapAgreeWithTheDefinition) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const int size = 1 + static_cast<int>(seed);
    const Distribution p = Distribution::FromWeights(RandomWeights(size, seed));
    const Distribution q = Distribution::FromWeights(RandomWeights(size, seed + 1000));
    double mass = 0, overlap = 0;
    for (int token = 0; token < size; ++token) {
      mass += std::max(0.0, p[token] - q[token]);
      overlap += std::min(p[token], q[token]);
    }
    EXPECT_NEAR(Overlap(p, q), overlap, 1e-15);
    EXPECT_NEAR(Overlap(p, q), 1 - mass, 1e-14);
    const Distribution residual = p.MinusClamped(q);
    if (residual.empty()) {
      EXPECT_LT(mass, 1e-15);
      continue;
    }
    EXPECT_NEAR(Sum(residual), 1, 1e-14);
    for (int token = 0; token < size; ++token) {
      EXPECT_NEAR(residual[token], std::max(0.0, p[token] - q[token]) / mass, 1e-12);
      EXPECT_EQ(residual[token] > 0, p[token] > q[token]);
    }
  }
}

TEST(Distribution, ResidualOfEqualsIsEmptyAndOfDisjointIsP) {
  const Distribution p = Distribution::FromWeights(std::vector<double>{1, 2, 0, 0});
  const Distribution q = Distribution::FromWeights(std::vector<double>{0, 0, 1, 1});
  EXPECT_TRUE(p.MinusClamped(p).empty());
  EXPECT_THAT(p.MinusClamped(q).tokens(), ElementsAre(0, 1));
  EXPECT_NEAR(p.MinusClamped(q)[1], 2.0 / 3, 1e-15);
  EXPECT_EQ(Overlap(p, q), 0);
  EXPECT_EQ(Overlap(q, q), 1);
}

TEST(Distribution, WithoutStrikesOut) {
  const Distribution p = Distribution::FromWeights(std::vector<double>{1, 2, 1});
  EXPECT_THAT(p.Without(1).tokens(), ElementsAre(0, 2));
  EXPECT_THAT(p.Without(1).probabilities(), ElementsAre(0.5, 0.5));
  EXPECT_THAT(p.Without(7).probabilities(), ElementsAre(0.25, 0.5, 0.25));
  EXPECT_TRUE(Distribution::PointMass(4).Without(4).empty());
}

TEST(DrawAt, IsTheInverseOfTheSum) {
  const Distribution p = Distribution::FromWeights(std::vector<double>{0, 1, 0, 2, 1});
  EXPECT_EQ(p.DrawAt(0), 1);
  EXPECT_EQ(p.DrawAt(0.2499), 1);
  EXPECT_EQ(p.DrawAt(0.25), 3);
  EXPECT_EQ(p.DrawAt(0.7499), 3);
  EXPECT_EQ(p.DrawAt(0.75), 4);
  EXPECT_EQ(p.DrawAt(kBelowOne), 4);
}

// Sums that rounding leaves below 1 must not fall off the end, or onto an id without mass.
TEST(DrawAt, StaysInsideTheSupport) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<double> weights = RandomWeights(100, seed);
    weights.back() = 0;
    const Distribution p = Distribution::FromWeights(weights);
    for (const double u : {0.0, 0.5, kBelowOne}) EXPECT_GT(p[p.DrawAt(u)], 0);
  }
}

template <typename Draw>
std::vector<int64_t> Count(int size, int draws, Draw draw) {
  std::vector<int64_t> counts(size);
  for (int i = 0; i < draws; ++i) ++counts[draw(i)];
  return counts;
}

TEST(Draws, HaveTheLawOfTheDistribution) {
  for (const int size : {2, 10, 300}) {
    const std::vector<double> weights = RandomWeights(size, size);
    const Distribution p = Distribution::FromWeights(weights);
    std::vector<double> expected;
    for (int token = 0; token < size; ++token) expected.push_back(p[token]);
    const auto race = Count(size, 40000, [&](uint64_t i) { return p.DrawRace({.seed = 5, .place = i}); });
    const auto inverse =
        Count(size, 40000, [&](uint64_t i) { return p.DrawAt(Uniform({.seed = 6, .place = i})); });
    EXPECT_GT(ChiSquarePValue(race, expected), 1e-6) << size;
    EXPECT_GT(ChiSquarePValue(inverse, expected), 1e-6) << size;
  }
}

// The test above must see a bias of a few percent of one token's mass.
TEST(Draws, ASlightlyWrongLawIsSeen) {
  const std::vector<double> expected = {0.5, 0.3, 0.2};
  const Distribution wrong = Distribution::FromWeights(std::vector<double>{0.52, 0.29, 0.19});
  const auto race = Count(3, 40000, [&](uint64_t i) { return wrong.DrawRace({.seed = 5, .place = i}); });
  EXPECT_LT(ChiSquarePValue(race, expected), 1e-6);
}

// The race's shortcut may not change any result.
TEST(DrawRace, IsTheLeastClock) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Distribution p = Distribution::FromWeights(RandomWeights(1 + static_cast<int>(seed % 97), seed));
    const RandomKey key = {.seed = seed, .request = 3, .place = 8, .purpose = Purpose::kTarget};
    TokenId best = -1;
    double best_clock = std::numeric_limits<double>::infinity();
    for (const TokenId token : p.tokens()) {
      const double clock = Exponential(key, token) / p[token];
      if (clock < best_clock) {
        best_clock = clock;
        best = token;
      }
    }
    EXPECT_EQ(p.DrawRace(key), best);
  }
}

// Two coupled draws agree with probability at least (1 - TV) / (1 + TV); independent ones with sum p q.
TEST(DrawRace, CouplesAlikeDistributions) {
  std::vector<double> weights = RandomWeights(50, 1, false);
  const Distribution p = Distribution::FromWeights(weights);
  for (int i = 0; i < 50; ++i) weights[i] *= 0.8 + 0.4 * Uniform({.seed = 2}, i);
  const Distribution q = Distribution::FromWeights(weights);
  const double tv = 1 - Overlap(p, q);
  ASSERT_GT(tv, 0.01);
  constexpr int kDraws = 20000;
  int coupled = 0, independent = 0;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const TokenId token = p.DrawRace({.place = i});
    ASSERT_EQ(token, p.DrawRace({.place = i}));
    coupled += token == q.DrawRace({.place = i});
    independent += token == q.DrawRace({.request = 1, .place = i});
  }
  const double deviation = 4 * std::sqrt(0.25 / kDraws);
  EXPECT_GT(coupled / double{kDraws}, (1 - tv) / (1 + tv) - deviation);
  EXPECT_LT(independent / double{kDraws}, 0.5);
}

}  // namespace
}  // namespace forerun
