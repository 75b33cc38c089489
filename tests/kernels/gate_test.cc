#include "kernels/gate/gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

class GateTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(GateTest);

TEST_P(GateTest, EqualsTheReferenceAtEveryWidth) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  constexpr int64_t kRows = 3;
  Lane lane;
  for (const Activation activation : {Activation::kSilu, Activation::kGeluTanh}) {
    for (int64_t columns = 1; columns <= 70; ++columns) {
      std::vector<float> gate = RandomFloats(columns, kRows * columns, -12, 12);
      std::vector<float> up = RandomFloats(columns + 1000, kRows * columns, -3, 3);
      std::vector<float> expected(kRows * columns);
      GateArgs args{activation, gate.data(), up.data(), expected.data(), columns};
      GateReference(args, {0, kRows}, lane);
      args.y = columns % 2 == 0 ? gate.data() : up.data();  // in place, rows split
      kGate.For(GetParam())(args, {1, kRows}, lane);
      kGate.For(GetParam())(args, {0, 1}, lane);
      ASSERT_TRUE(SameBits(expected, columns % 2 == 0 ? gate : up)) << columns << " columns";
    }
  }
}

// Some columns of rows with something between them, which stays as it is.
TEST_P(GateTest, RowsMayLieApart) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  Lane lane;
  const std::vector<float> gate = RandomFloats(1, 3 * 50, -9, 9), up = RandomFloats(2, 3 * 50);
  std::vector<float> apart = gate;
  kGate.For(GetParam())({Activation::kSilu, apart.data(), up.data(), apart.data(), 37, 50}, {0, 3}, lane);
  for (int row = 0; row < 3; ++row) {
    std::vector<float> expected(gate.begin() + 50 * row, gate.begin() + 50 * row + 50);
    GateReference({Activation::kSilu, expected.data(), up.data() + 50 * row, expected.data(), 37}, {0, 1},
                  lane);
    const std::vector<float> found(apart.begin() + 50 * row, apart.begin() + 50 * row + 50);
    EXPECT_TRUE(SameBits(expected, found)) << row;
  }
}

TEST(GateReferenceTest, AgreesWithDoubles) {
  const std::vector<float> gate = RandomFloats(1, 4000, -20, 20), up = RandomFloats(2, 4000);
  std::vector<float> silu(4000), gelu(4000);
  Lane lane;
  GateReference({Activation::kSilu, gate.data(), up.data(), silu.data(), 4000}, {0, 1}, lane);
  GateReference({Activation::kGeluTanh, gate.data(), up.data(), gelu.data(), 4000}, {0, 1}, lane);
  for (int i = 0; i < 4000; ++i) {
    const double g = gate[i];
    ASSERT_NEAR(silu[i], g / (1 + std::exp(-g)) * up[i], 1e-5);
    const double inner = std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g);
    ASSERT_NEAR(gelu[i], 0.5 * g * (1 + std::tanh(inner)) * up[i], 1e-5);
  }
}

TEST(GateReferenceTest, FarValuesSaturate) {
  const std::vector<float> gate = {-1000, 1000}, up = {1, 1};
  std::vector<float> y(2);
  Lane lane;
  for (const Activation activation : {Activation::kSilu, Activation::kGeluTanh}) {
    GateReference({activation, gate.data(), up.data(), y.data(), 2}, {0, 1}, lane);
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[1], 1000);
  }
}

}  // namespace
}  // namespace forerun
