#include "kernels/softmax_weights/softmax_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kGuard = -7;

struct Weighed {
  std::vector<float> weights;  // and one beyond the row
  double sum = 0;
};

Weighed Weigh(KernelFn<SoftmaxWeightsArgs> fn, const std::vector<float>& x, float temperature) {
  Weighed result;
  result.weights.assign(x.size() + 1, kGuard);
  float largest = -kInfinity;
  for (const float value : x) largest = value > largest ? value : largest;
  Lane lane;
  fn({x.data(), static_cast<int64_t>(x.size()), largest, temperature, result.weights.data(), &result.sum},
     {0, 1}, lane);
  EXPECT_EQ(result.weights.back(), kGuard);
  result.weights.pop_back();
  return result;
}

std::vector<int32_t> Places(KernelFn<AtLeastArgs> fn, const std::vector<float>& x, float floor) {
  std::vector<int32_t> places(x.size());
  int64_t count = -1;
  Lane lane;
  fn({x.data(), static_cast<int64_t>(x.size()), floor, places.data(), &count}, {0, 1}, lane);
  places.resize(count);
  return places;
}

class SoftmaxWeightsTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(SoftmaxWeightsTest);

TEST_P(SoftmaxWeightsTest, EqualsTheReferenceAtEveryWidth) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  for (int columns = 1; columns <= 150; ++columns) {
    std::vector<float> x = RandomFloats(columns, columns, -30, 30);
    if (columns % 5 == 0) x[columns / 2] = -kInfinity;
    if (columns % 7 == 3) x[columns / 3] = kNan;
    for (const float temperature : {0.1f, 1.0f, 1e-30f, 1e30f}) {
      const Weighed expected = Weigh(SoftmaxWeightsReference, x, temperature);
      const Weighed actual = Weigh(kSoftmaxWeights.For(GetParam()), x, temperature);
      ASSERT_EQ(expected.weights, actual.weights) << columns << " columns";
      ASSERT_EQ(std::bit_cast<uint64_t>(expected.sum), std::bit_cast<uint64_t>(actual.sum));
    }
    std::vector<float> sorted = x;
    std::sort(sorted.begin(), sorted.end());
    for (const float floor : {-40.0f, 0.0f, sorted[columns / 2], 31.0f}) {
      ASSERT_EQ(Places(AtLeastReference, x, floor), Places(kAtLeast.For(GetParam()), x, floor));
    }
  }
}

TEST_P(SoftmaxWeightsTest, AreTheExponentialsAndTheirSum) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const std::vector<float> x = RandomFloats(1000, 3, -20, 5);
  const float largest = *std::max_element(x.begin(), x.end());
  const Weighed weighed = Weigh(kSoftmaxWeights.For(GetParam()), x, 0.7f);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp((static_cast<double>(x[i]) - largest) / 0.7f);
    sum += exact;
    EXPECT_NEAR(weighed.weights[i], exact, exact * 1e-5 + 1e-37);
  }
  EXPECT_NEAR(weighed.sum, sum, sum * 2e-6);
}

TEST_P(SoftmaxWeightsTest, NanWeighsNothingAndIsNeverAtLeast) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  std::vector<float> x(40, kNan);
  x[7] = x[33] = 2;
  const Weighed weighed = Weigh(kSoftmaxWeights.For(GetParam()), x, 1);
  EXPECT_EQ(weighed.sum, 2);
  EXPECT_EQ(weighed.weights[8], 0);
  EXPECT_EQ(weighed.weights[7], 1);
  EXPECT_EQ(Places(kAtLeast.For(GetParam()), x, -kInfinity), (std::vector<int32_t>{7, 33}));
}

}  // namespace
}  // namespace forerun
