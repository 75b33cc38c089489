#include "core/base/random.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "experiments/lossless/chi_square.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

constexpr RandomKey kKey = {.seed = 1, .request = 2, .place = 3, .node = 4, .purpose = Purpose::kDraft};

// Runs are replayed from their keys: these numbers may never change.
TEST(Random, KeepsItsNumbers) {
  EXPECT_EQ(RandomBits({}), 0x80621B52340370Cu);
  EXPECT_EQ(RandomBits(kKey), 0xEAFCD2E4A237559u);
  EXPECT_EQ(RandomBits(kKey, 7), 0x22BB5204493AB6C4u);
  EXPECT_EQ(Uniform(kKey), 0x1.d5f9a5c9446ep-5);
  EXPECT_EQ(Exponential(kKey), 0x1.6dda97fbab9a8p+1);
}

TEST(Random, EveryFieldOfTheKeyMatters) {
  std::set<uint64_t> seen = {RandomBits(kKey)};
  RandomKey key = kKey;
  key.seed = 9;
  seen.insert(RandomBits(key));
  key = kKey;
  key.request = 9;
  seen.insert(RandomBits(key));
  key = kKey;
  key.place = 9;
  seen.insert(RandomBits(key));
  key = kKey;
  key.node = 9;
  seen.insert(RandomBits(key));
  key = kKey;
  key.purpose = Purpose::kAccept;
  seen.insert(RandomBits(key));
  seen.insert(RandomBits(kKey, 1));
  EXPECT_EQ(seen.size(), 7u);
}

// Small keys, as they occur: no two of 5^4 * 6 keys with 4 indices give the same bits.
TEST(Random, SmallKeysDoNotCollide) {
  std::set<uint64_t> seen;
  std::size_t count = 0;
  for (uint64_t i = 0; i < 625; ++i) {
    for (int purpose = 0; purpose < 6; ++purpose) {
      const RandomKey key = {i % 5, i / 5 % 5, i / 25 % 5, i / 125, static_cast<Purpose>(purpose)};
      for (uint64_t index = 0; index < 4; ++index, ++count) seen.insert(RandomBits(key, index));
    }
  }
  EXPECT_EQ(seen.size(), count);
}

TEST(Random, StreamGivesTheNumbersOfItsKey) {
  const RandomStream stream(kKey);
  for (uint64_t index : {0u, 1u, 151935u}) {
    EXPECT_EQ(stream.Bits(index), RandomBits(kKey, index));
    EXPECT_EQ(stream.Uniform(index), Uniform(kKey, index));
    EXPECT_EQ(NegativeLog(stream.PositiveUniform(index)), Exponential(kKey, index));
  }
}

// Uniforms along one field of the key fill 16 cells evenly; so do pairs of neighbours.
void ExpectEven(const std::vector<double>& uniforms) {
  std::vector<int64_t> cells(16), pairs(16);
  for (std::size_t i = 0; i < uniforms.size(); ++i) {
    ASSERT_GE(uniforms[i], 0);
    ASSERT_LT(uniforms[i], 1);
    ++cells[static_cast<int>(uniforms[i] * 16)];
    if (i > 0) ++pairs[static_cast<int>(uniforms[i - 1] * 4) * 4 + static_cast<int>(uniforms[i] * 4)];
  }
  const std::vector<double> even(16, 1.0 / 16);
  EXPECT_GT(ChiSquarePValue(cells, even), 1e-6);
  EXPECT_GT(ChiSquarePValue(pairs, even), 1e-6);
}

TEST(Random, UniformsAreEvenAlongEveryField) {
  std::vector<double> by_seed, by_request, by_place, by_node, by_index;
  for (uint64_t i = 0; i < 20000; ++i) {
    by_seed.push_back(Uniform({.seed = i}));
    by_request.push_back(Uniform({.request = i}));
    by_place.push_back(Uniform({.place = i}));
    by_node.push_back(Uniform({.node = i}));
    by_index.push_back(Uniform({}, i));
  }
  for (const auto& uniforms : {by_seed, by_request, by_place, by_node, by_index}) ExpectEven(uniforms);
}

TEST(NegativeLog, AgreesWithTheLibraryTo1e12) {
  const auto expect_close = [](double u) {
    const double expected = -static_cast<double>(std::log(static_cast<long double>(u)));
    EXPECT_LE(std::abs(NegativeLog(u) - expected), 1e-12 * expected) << u;
  };
  for (int i = 0; i < 100000; ++i) expect_close(RandomStream({}).PositiveUniform(i));
  for (int exponent = 1; exponent <= 53; ++exponent) {
    for (const double factor : {1.0, 1.2, 1.41421356, 1.41421357, 1.9999999}) {
      expect_close(std::ldexp(factor, -exponent));
    }
    if (exponent > 1) expect_close(1 - std::ldexp(1.0, -exponent));  // relative, also next to 1
  }
}

TEST(NegativeLog, IsZeroAtOneAndLargestAtTheLeastUniform) {
  EXPECT_EQ(NegativeLog(1), 0);
  EXPECT_FALSE(std::signbit(NegativeLog(1)));
  EXPECT_NEAR(NegativeLog(0x1p-53), 53 * std::log(2.0), 1e-12);
}

TEST(Exponential, HasTheExponentialLaw) {
  std::vector<int64_t> cells(10);
  for (uint64_t i = 0; i < 50000; ++i) {
    const double share = 1 - std::exp(-Exponential({.seed = 77}, i));
    ++cells[std::min(9, static_cast<int>(share * 10))];
  }
  EXPECT_GT(ChiSquarePValue(cells, std::vector<double>(10, 0.1)), 1e-6);
}

}  // namespace
}  // namespace forerun
