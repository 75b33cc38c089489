#include "kernels/add/add.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

class AddTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(AddTest);

TEST_P(AddTest, AddsItsRowsAndNoOthers) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  constexpr int64_t kRows = 4;
  Lane lane;
  for (int64_t columns = 1; columns <= 70; ++columns) {
    const std::vector<float> x = RandomFloats(columns, kRows * columns);
    std::vector<float> y = RandomFloats(columns + 1000, kRows * columns);
    std::vector<float> expected = y;
    for (int64_t i = columns; i < 3 * columns; ++i) expected[i] = expected[i] + x[i];
    kAdd.For(GetParam())({x.data(), y.data(), columns}, {1, 3}, lane);
    ASSERT_TRUE(SameBits(expected, y)) << columns << " columns";
  }
}

}  // namespace
}  // namespace forerun
