#include "kernels/rms_norm/rms_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

class RmsNormTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(RmsNormTest);

TEST_P(RmsNormTest, EqualsTheReferenceAtEveryWidth) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  constexpr int64_t kRows = 3;
  Lane lane;
  for (int64_t columns = 1; columns <= 100; ++columns) {
    std::vector<float> x = RandomFloats(columns, kRows * columns + 1, -3, 3);
    const std::vector<float> gain = RandomFloats(columns + 1000, columns);
    std::vector<float> expected(kRows * columns);
    RmsNormArgs args{x.data() + 1, gain.data(), expected.data(), columns, 1e-6f};  // + 1: not aligned
    RmsNormReference(args, {0, kRows}, lane);
    args.y = x.data() + 1;  // in place, rows split
    kRmsNorm.For(GetParam())(args, {2, 3}, lane);
    kRmsNorm.For(GetParam())(args, {0, 2}, lane);
    x.erase(x.begin());
    ASSERT_TRUE(SameBits(expected, x)) << columns << " columns";
  }
}

// Rows with something between them, which stays as it is.
TEST_P(RmsNormTest, RowsMayLieApart) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  Lane lane;
  const std::vector<float> x = RandomFloats(1, 3 * 50), gain = RandomFloats(2, 40);
  std::vector<float> apart = x;
  kRmsNorm.For(GetParam())({apart.data(), gain.data(), apart.data(), 40, 1e-6f, 50}, {0, 3}, lane);
  for (int row = 0; row < 3; ++row) {
    std::vector<float> expected(x.begin() + 50 * row, x.begin() + 50 * row + 50);
    RmsNormReference({expected.data(), gain.data(), expected.data(), 40, 1e-6f}, {0, 1}, lane);
    const std::vector<float> found(apart.begin() + 50 * row, apart.begin() + 50 * row + 50);
    EXPECT_TRUE(SameBits(expected, found)) << row;
  }
}

TEST(RmsNormReferenceTest, AgreesWithDoubles) {
  constexpr int64_t kColumns = 1537;
  const std::vector<float> x = RandomFloats(1, kColumns, -5, 5), gain = RandomFloats(2, kColumns);
  std::vector<float> y(kColumns);
  Lane lane;
  RmsNormReference({x.data(), gain.data(), y.data(), kColumns, 1e-2f}, {0, 1}, lane);
  double squares = 0;
  for (const float value : x) squares += static_cast<double>(value) * value;
  const double rms = std::sqrt(squares / kColumns + 1e-2);
  for (int64_t c = 0; c < kColumns; ++c) ASSERT_NEAR(y[c], x[c] / rms * gain[c], 1e-6);
}

TEST(RmsNormReferenceTest, EpsilonKeepsZerosFinite) {
  const std::vector<float> x(5, 0.0f), gain(5, 1.0f);
  std::vector<float> y(5, 7.0f);
  Lane lane;
  RmsNormReference({x.data(), gain.data(), y.data(), 5, 1e-6f}, {0, 1}, lane);
  EXPECT_EQ(y, x);
}

}  // namespace
}  // namespace forerun
