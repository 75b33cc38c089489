// Exp64 against exp in long double, and the kernels against the reference bit by bit.
#include "kernels/exact_weights/exact_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/simd/exp64.h"
#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kGuard = -7;

TEST(Exp64, IsWithinOneUnitInTheLastPlace) {
  long double worst = 0;
  for (double x = -707.9; x <= 0; x += 0.000713) {
    const long double exact = std::exp(static_cast<long double>(x));
    worst = std::max(worst, std::abs(Exp64(x) - exact) / exact);
  }
  EXPECT_LT(worst, 2.3e-16L);
  EXPECT_GT(worst, 1e-17L) << "no double is this good: the comparison is broken";
}

TEST(Exp64, EdgesAreAsDefined) {
  EXPECT_EQ(Exp64(0.0), 1);
  EXPECT_EQ(Exp64(-0.0), 1);
  EXPECT_EQ(Exp64(-kInfinity), 0);
  EXPECT_EQ(Exp64(kNan), 0);
  EXPECT_GE(Exp64(-708), std::numeric_limits<double>::min());
  EXPECT_EQ(Exp64(std::nextafter(-708.0, -kInfinity)), 0);
}

TEST(Exp64, NeverFalls) {
  double before = 0;
  for (double x = -708; x <= 0; x += 0x1p-10) {
    ASSERT_GE(Exp64(x), before) << x;
    before = Exp64(x);
  }
}

std::vector<double> Weigh(KernelFn<ExactWeightsArgs> fn, const std::vector<float>& x, float temperature) {
  std::vector<double> weights(x.size() + 1, kGuard);
  float largest = -std::numeric_limits<float>::infinity();
  for (const float value : x) largest = value > largest ? value : largest;
  Lane lane;
  fn({x.data(), static_cast<int64_t>(x.size()), largest, temperature, weights.data()}, {0, 1}, lane);
  EXPECT_EQ(weights.back(), kGuard) << "wrote beyond the row";
  weights.pop_back();
  return weights;
}

class ExactWeightsTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(ExactWeightsTest);

TEST_P(ExactWeightsTest, EqualsTheReferenceAtEveryWidth) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  for (int columns = 1; columns <= 150; ++columns) {
    std::vector<float> x = RandomFloats(columns, columns, -30, 30);
    if (columns % 5 == 0) x[columns / 2] = -static_cast<float>(kInfinity);
    if (columns % 7 == 3) x[columns / 3] = kNan;
    for (const float temperature : {0.05f, 0.7f, 1.0f, 1e-30f, 1e30f}) {
      const std::vector<double> expected = Weigh(ExactWeightsReference, x, temperature);
      const std::vector<double> actual = Weigh(kExactWeights.For(GetParam()), x, temperature);
      for (int c = 0; c < columns; ++c) {
        ASSERT_EQ(std::bit_cast<uint64_t>(expected[c]), std::bit_cast<uint64_t>(actual[c]))
            << c << " of " << columns << " columns, temperature " << temperature;
      }
    }
  }
}

TEST_P(ExactWeightsTest, AreTheExponentials) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const std::vector<float> x = RandomFloats(1000, 3, -20, 5);
  const float largest = *std::max_element(x.begin(), x.end());
  for (const float temperature : {1.0f, 0.7f}) {
    const std::vector<double> weights = Weigh(kExactWeights.For(GetParam()), x, temperature);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = std::exp((static_cast<double>(x[i]) - largest) / temperature);
      EXPECT_NEAR(weights[i], exact, exact * 1e-15);
    }
  }
}

TEST_P(ExactWeightsTest, NanWeighsNothing) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  std::vector<float> x(40, kNan);
  x[7] = x[33] = 2;
  const std::vector<double> weights = Weigh(kExactWeights.For(GetParam()), x, 1);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(weights[i], i == 7 || i == 33);
}

}  // namespace
}  // namespace forerun
