#include "kernels/quantize_rows/quantize_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/variant_test.h"

namespace forerun {
namespace {

struct Quantized {
  Quantized(KernelFn<QuantizeRowsArgs> fn, const std::vector<float>& x, int64_t columns)
      : codes(x.size(), 99), scales(x.size() / 32, -1.0f), sums(x.size() / 16, 99) {
    Lane lane;
    const int64_t rows = static_cast<int64_t>(x.size()) / columns;
    const QuantizeRowsArgs args{x.data(), columns, codes.data(), scales.data(), sums.data()};
    for (int64_t row = 0; row < rows; row += 2) fn(args, {row, std::min(row + 2, rows)}, lane);
  }
  bool operator==(const Quantized&) const = default;

  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> sums;
};

// Blocks of every magnitude, some zero, some with exact ties at .5.
std::vector<float> Activations(int64_t rows, int64_t columns) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> x(rows * columns);
  for (std::size_t block = 0; block < x.size(); block += 32) {
    const int kind = static_cast<int>(random() % 6);
    const float size = std::ldexp(1.0f, static_cast<int>(random() % 240) - 126);
    for (int i = 0; i < 32; ++i) {
      float& value = x[block + i];
      value = normal(random);
      if (kind == 0) value = random() % 2 == 0 ? 0.0f : -0.0f;
      if (kind == 1) value *= size;
      if (kind == 2)
        value = i == 5 ? -127.0f : 0.5f * static_cast<float>(static_cast<int>(random() % 500) - 250);
      if (kind == 2 && std::fabs(value) > 127.0f) value = 0.5f;
      if (kind == 3) value *= 1e-42f;
    }
  }
  return x;
}

class QuantizeRowsTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(QuantizeRowsTest);

TEST_P(QuantizeRowsTest, EqualsTheReferenceBitForBit) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const KernelFn<QuantizeRowsArgs> fn = kQuantizeRows.Exactly(GetParam());
  if (fn == nullptr) GTEST_SKIP() << "no variant of its own";
  for (int64_t columns : {32, 96, 896}) {
    const std::vector<float> x = Activations(37, columns);
    EXPECT_EQ(Quantized(fn, x, columns), Quantized(QuantizeRowsReference, x, columns))
        << columns << " columns";
  }
}

// All rows a few blocks at a time give what whole rows give.
TEST_P(QuantizeRowsTest, BlocksMayComeInAnyOrder) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  constexpr int64_t kColumns = 224, kRows = 5;
  const std::vector<float> x = Activations(kRows, kColumns);
  const Quantized expected(QuantizeRowsReference, x, kColumns);
  Quantized found(QuantizeRowsReference, std::vector<float>(x.size()), kColumns);
  Lane lane;
  for (const WorkRange columns : {WorkRange{160, 224}, WorkRange{0, 32}, WorkRange{32, 160}}) {
    kQuantizeRows.For(GetParam())({.x = x.data() + columns.begin,
                                   .columns = columns.end - columns.begin,
                                   .codes = found.codes.data() + columns.begin,
                                   .scales = found.scales.data() + columns.begin / 32,
                                   .sums = found.sums.data() + columns.begin / 16,
                                   .stride = kColumns},
                                  {0, kRows}, lane);
  }
  EXPECT_EQ(found, expected);
}

TEST(QuantizeRows, SaysWhatItsHeaderSays) {
  const std::vector<float> x = Activations(50, 256);
  const Quantized out(QuantizeRowsReference, x, 256);
  for (std::size_t block = 0; block < x.size() / 32; ++block) {
    float amax = 0.0f;
    int32_t sums[2] = {0, 0};
    for (int i = 0; i < 32; ++i) {
      amax = std::max(amax, std::fabs(x[32 * block + i]));
      const int code = out.codes[32 * block + i];
      sums[i / 16] += code;
      EXPECT_LE(std::abs(code), 127);
      if (amax > 1e-30f) {
        EXPECT_LE(std::fabs(code * out.scales[block] - x[32 * block + i]), 0.5001f * out.scales[block]);
      }
    }
    EXPECT_EQ(out.scales[block], amax < 3.7e-37f ? 0.0f : amax / 127.0f);
    EXPECT_EQ(out.sums[2 * block], sums[0]);
    EXPECT_EQ(out.sums[2 * block + 1], sums[1]);
  }
}

TEST(QuantizeRows, TiesGoToTheEvenCode) {
  std::vector<float> x(32, 0.0f);
  x[0] = 127.0f, x[1] = 0.5f, x[2] = 1.5f, x[3] = -2.5f, x[4] = -3.5f;
  const Quantized out(QuantizeRowsReference, x, 32);
  EXPECT_EQ(std::vector<int8_t>(out.codes.begin(), out.codes.begin() + 5),
            (std::vector<int8_t>{127, 0, 2, -2, -4}));
}

}  // namespace
}  // namespace forerun
