// The roofs do the work that they are timed for: what they compute is what plain loops compute.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cases/floats.h"
#include "kernels/roof/op_mix.h"
#include "kernels/roof/stream_read.h"
#include "kernels/runtime/buffer.h"
#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

class RoofTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(RoofTest);

TEST_P(RoofTest, EveryByteIsRead) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  constexpr int64_t kUnits = 3, kUnitBytes = 8192;
  Buffer memory(kUnits * kUnitBytes);
  std::mt19937_64 random(1);
  std::vector<uint64_t> words(memory.bytes() / 8), expected(kUnits), sums(kUnits);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = random();
    expected[i / (kUnitBytes / 8)] ^= words[i];
  }
  std::memcpy(memory.data(), words.data(), memory.bytes());
  Lane lane;
  for (const int streams : {1, 2, 4}) {
    for (const int64_t ahead : {0, 2048}) {
      sums.assign(kUnits, 0);
      const StreamReadArgs args{.data = memory.data(),
                                .unit_bytes = kUnitBytes,
                                .streams = streams,
                                .ahead = ahead,
                                .sums = sums.data()};
      kStreamRead.For(GetParam())(args, {2, 3}, lane);
      kStreamRead.For(GetParam())(args, {0, 2}, lane);
      EXPECT_EQ(sums, expected) << streams << " streams, prefetch " << ahead << " bytes ahead";
    }
  }
}

// Random operands of a mix over some rows.
struct MixCase {
  MixCase(int rows, int sub_blocks, bool has_min) : x(kOpMixRing * rows), codes(8 * 64), y(2 * rows * 16) {
    std::mt19937 random(rows + 10 * sub_blocks);
    for (uint8_t& code : codes) code = random() % 16;
    const std::vector<float> d = RandomFloats(3, x.size() * 3);
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (int8_t& code : x[i].codes) code = static_cast<int8_t>(static_cast<int>(random() % 255) - 127);
      x[i].d = d[3 * i];
      for (int sub = 0; sub < 2; ++sub) x[i].d_qsum[sub] = d[3 * i + 1 + sub];
    }
    args = {.sub_blocks = sub_blocks,
            .has_min = has_min,
            .rows = rows,
            .blocks = 7,
            .codes = codes.data(),
            .scales = scales.data(),
            .minima = minima.data(),
            .x = x.data(),
            .y = y.data()};
  }

  std::vector<float> Run(KernelFn<OpMixArgs> fn) {
    Lane lane;
    fn(args, {0, 2}, lane);
    return y;
  }

  std::vector<OpMixBlock> x;
  std::vector<uint8_t> codes;
  std::vector<float> scales = RandomFloats(1, 32), minima = RandomFloats(2, 32);
  std::vector<float> y;
  OpMixArgs args;
};

TEST_P(RoofTest, MixEqualsPlainLoops) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  for (const int rows : kOpMixRows) {
    for (const int sub_blocks : {1, 2}) {
      for (const bool has_min : {false, true}) {
        MixCase mix(rows, sub_blocks, has_min);
        const std::vector<float> expected = mix.Run(OpMixReference);
        EXPECT_TRUE(SameBits(mix.Run(kOpMix.For(GetParam())), expected))
            << rows << " rows, " << sub_blocks << " sub-blocks, minimum " << has_min;
      }
    }
  }
}

TEST_P(RoofTest, FmaMixEqualsPlainLoops) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const std::vector<float> weights = RandomFloats(1, 32 * 16);
  for (const int rows : kOpMixRows) {
    const std::vector<float> x = RandomFloats(2, kOpMixRing * 32 * rows);
    std::vector<float> y(2 * rows * 16), expected(y.size());
    Lane lane;
    FmaMixReference({rows, 5, weights.data(), x.data(), expected.data()}, {0, 2}, lane);
    kFmaMix.For(GetParam())({rows, 5, weights.data(), x.data(), y.data()}, {0, 2}, lane);
    EXPECT_TRUE(SameBits(y, expected)) << rows << " rows";
  }
}

// The reference itself, against one sum in double.
TEST(Roof, MixIsAProduct) {
  MixCase mix(2, 2, true);
  const std::vector<float> y = mix.Run(OpMixReference);
  double sum = 0;
  for (int b = 0; b < 7; ++b) {
    const OpMixBlock& x = mix.x[b % kOpMixRing * 2 + 1];
    for (int k = 0; k < 32; ++k) {
      sum += double{mix.scales[k / 16 * 16 + 5]} * mix.codes[(k / 4 * 16 + 5) * 4 + k % 4] * x.d * x.codes[k];
    }
    for (int sub = 0; sub < 2; ++sub) sum -= double{mix.minima[sub * 16 + 5]} * x.d_qsum[sub];
  }
  EXPECT_NEAR(y[16 + 5], sum, 1e-3 * (1 + std::abs(sum)));
}

}  // namespace
}  // namespace forerun
