// Exp against double exp, and its vector forms against it bit by bit through the kernels that use them.
#include "kernels/simd/exp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/gate/gate.h"
#include "kernels/row_reduce/row_reduce.h"
#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(ExpTest, IsWithinTwoUnitsInTheLastPlace) {
  double worst = 0;
  for (uint32_t bits = 0; bits < 0x42b00000; bits += 1009) {  // up to 88, both signs
    for (const float x : {std::bit_cast<float>(bits), -std::bit_cast<float>(bits)}) {
      if (x < -87) continue;
      const double exact = std::exp(static_cast<double>(x));
      worst = std::max(worst, std::abs(Exp(x) - exact) / exact);
    }
  }
  EXPECT_LT(worst, 1.2e-7);
  EXPECT_GT(worst, 1e-8) << "no float is this good: the comparison is broken";
}

TEST(ExpTest, EdgesAreAsDefined) {
  EXPECT_EQ(Exp(0.0f), 1.0f);
  EXPECT_EQ(Exp(-0.0f), 1.0f);
  EXPECT_EQ(Exp(-kInfinity), 0.0f);
  EXPECT_EQ(Exp(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(Exp(kNan)));
  EXPECT_EQ(Exp(std::nextafter(-87.0f, -kInfinity)), 0.0f);
  EXPECT_GE(Exp(-87.0f), std::numeric_limits<float>::min());
  EXPECT_EQ(Exp(std::nextafter(88.0f, kInfinity)), kInfinity);
  EXPECT_TRUE(std::isfinite(Exp(88.0f)));
}

TEST(ExpTest, NeverFalls) {
  float before = 0;
  for (float x = -87; x <= 88; x += 0x1p-10f) {
    ASSERT_GE(Exp(x), before) << x;
    before = Exp(x);
  }
}

class ExpLanesTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(ExpLanesTest);

std::vector<float> ManyFloats() {
  std::vector<float> x = {0.0f,      -0.0f,      87,   -87,    88,      -88, std::nextafter(87.0f, 88.0f),
                          kInfinity, -kInfinity, kNan, 1e-40f, -1e-40f, 89,  std::nextafter(-88.0f, -89.0f),
                          0x1p-126f};
  for (uint32_t bits = 0; bits < 0x42c00000; bits += 4999) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-std::bit_cast<float>(bits));
  }
  return x;
}

// silu(x) = x / (1 + Exp(-x)): any difference in an Exp of a positive number shows.
TEST_P(ExpLanesTest, EqualsTheScalarInGate) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const std::vector<float> x = ManyFloats(), up(x.size(), 1.0f);
  std::vector<float> y(x.size());
  Lane lane;
  kGate.For(GetParam())({Activation::kSilu, x.data(), up.data(), y.data(), static_cast<int64_t>(x.size())},
                        {0, 1}, lane);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(SameBits(y[i], x[i] / (1.0f + Exp(-x[i])))) << x[i];
}

// The log-sum-exp of (0, x) is log(1 + Exp(x)) in double: any difference in an Exp above 2^-29 shows.
TEST_P(ExpLanesTest, EqualsTheScalarInLogSumExp) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  Lane lane;
  for (const float x : ManyFloats()) {
    if (!(x < 0)) continue;
    const float row[2] = {0, x};
    double log_sum_exp = 0;
    kRowReduce.For(GetParam())({row, 2, 2, nullptr, &log_sum_exp}, {0, 1}, lane);
    ASSERT_EQ(log_sum_exp, std::log(1.0 + static_cast<double>(Exp(x)))) << x;
  }
}

}  // namespace
}  // namespace forerun
