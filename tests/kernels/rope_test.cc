#include "kernels/rope/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

constexpr int kPositions = 40;

struct Tables {
  explicit Tables(int rotary) {
    for (int position = 0; position < kPositions; ++position) {
      for (int i = 0; i < rotary / 2; ++i) {
        const double angle = position * std::pow(10000.0, -2.0 * i / rotary);
        cosines.push_back(static_cast<float>(std::cos(angle)));
        sines.push_back(static_cast<float>(std::sin(angle)));
      }
    }
  }
  std::vector<float> cosines, sines;  // [kPositions, rotary / 2]
};

class RopeTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(RopeTest);

TEST_P(RopeTest, EqualsTheReferenceAndLeavesTheRestAlone) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  constexpr int kRows = 4, kHeads = 3;
  const std::vector<int32_t> positions = {0, 39, 7, 7};
  Lane lane;
  for (const RopePairing pairing : {RopePairing::kInterleaved, RopePairing::kHalves}) {
    for (const auto& [head_size, rotary] :
         {std::pair{64, 64}, {128, 128}, {80, 80}, {96, 32}, {256, 256}, {20, 14}, {6, 6}, {10, 2}}) {
      const Tables tables(rotary);
      const int64_t stride = kHeads * head_size + 5;
      std::vector<float> expected = RandomFloats(head_size + rotary, kRows * stride);
      std::vector<float> actual = expected;
      RopeArgs args{expected.data(),
                    stride,
                    kHeads,
                    head_size,
                    rotary,
                    pairing,
                    positions.data(),
                    tables.cosines.data(),
                    tables.sines.data()};
      RopeReference(args, {0, kRows}, lane);
      args.x = actual.data();
      kRope.For(GetParam())(args, {1, kRows}, lane);
      kRope.For(GetParam())(args, {0, 1}, lane);
      ASSERT_TRUE(SameBits(expected, actual)) << "head " << head_size << ", rotary " << rotary;
    }
  }
}

// The property that rope exists for: q at position m and k at position n meet in a product that knows m - n
// only.
TEST(RopeReferenceTest, ProductsDependOnTheDistanceAlone) {
  constexpr int kSize = 64;
  const Tables tables(kSize);
  Lane lane;
  for (const RopePairing pairing : {RopePairing::kInterleaved, RopePairing::kHalves}) {
    const auto product = [&](int32_t m, int32_t n) {
      std::vector<float> q = RandomFloats(1, kSize), k = RandomFloats(2, kSize);
      RopeReference(
          {q.data(), kSize, 1, kSize, kSize, pairing, &m, tables.cosines.data(), tables.sines.data()}, {0, 1},
          lane);
      RopeReference(
          {k.data(), kSize, 1, kSize, kSize, pairing, &n, tables.cosines.data(), tables.sines.data()}, {0, 1},
          lane);
      double sum = 0;
      for (int i = 0; i < kSize; ++i) sum += static_cast<double>(q[i]) * k[i];
      return sum;
    };
    EXPECT_NEAR(product(5, 2), product(38, 35), 1e-5);
    EXPECT_GT(std::abs(product(5, 2) - product(5, 3)), 1e-3);
  }
}

TEST(RopeReferenceTest, TurnsThePairItNames) {
  const std::vector<float> cosines = {0, 1}, sines = {1, 0};  // pair 0 turns by a right angle, pair 1 stays
  const int32_t position = 0;
  Lane lane;
  std::vector<float> x = {1, 2, 3, 4};
  RopeReference({x.data(), 4, 1, 4, 4, RopePairing::kInterleaved, &position, cosines.data(), sines.data()},
                {0, 1}, lane);
  EXPECT_EQ(x, (std::vector<float>{-2, 1, 3, 4}));
  x = {1, 2, 3, 4};
  RopeReference({x.data(), 4, 1, 4, 4, RopePairing::kHalves, &position, cosines.data(), sines.data()}, {0, 1},
                lane);
  EXPECT_EQ(x, (std::vector<float>{-3, 2, 1, 4}));
}

}  // namespace
}  // namespace forerun
