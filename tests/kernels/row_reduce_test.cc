#include "kernels/row_reduce/row_reduce.h"

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

struct Reduced {
  int32_t argmax = -1;
  double log_sum_exp = -1;
};

Reduced Reduce(KernelFn<RowReduceArgs> fn, const std::vector<float>& row) {
  Reduced both, single;
  const auto columns = static_cast<int64_t>(row.size());
  Lane lane;
  fn({row.data(), columns, columns, &both.argmax, &both.log_sum_exp}, {0, 1}, lane);
  fn({row.data(), columns, columns, &single.argmax, nullptr}, {0, 1}, lane);
  fn({row.data(), columns, columns, nullptr, &single.log_sum_exp}, {0, 1}, lane);
  EXPECT_EQ(both.argmax, single.argmax);
  EXPECT_EQ(std::bit_cast<uint64_t>(both.log_sum_exp), std::bit_cast<uint64_t>(single.log_sum_exp));
  return both;
}

class RowReduceTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(RowReduceTest);

TEST_P(RowReduceTest, EqualsTheReferenceAtEveryWidth) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  for (int columns = 1; columns <= 200; ++columns) {
    std::vector<float> row = RandomFloats(columns, columns, -30, 30);
    if (columns % 5 == 0) row[columns / 2] = -kInfinity;
    const Reduced expected = Reduce(RowReduceReference, row);
    const Reduced actual = Reduce(kRowReduce.For(GetParam()), row);
    ASSERT_EQ(expected.argmax, actual.argmax);
    ASSERT_EQ(expected.log_sum_exp, actual.log_sum_exp) << columns << " columns";
  }
}

TEST_P(RowReduceTest, WalksRowsByTheirStride) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  std::vector<float> x = RandomFloats(1, 3 * 50);
  for (int row = 0; row < 3; ++row) {
    x[row * 50 + 10 * row] = 2;
    x[row * 50 + 45] = 100;  // beyond the columns
  }
  int32_t argmax[3] = {-1, -1, -1};
  Lane lane;
  kRowReduce.For(GetParam())({x.data(), 50, 45, argmax, nullptr}, {1, 3}, lane);
  EXPECT_EQ(argmax[0], -1);
  EXPECT_EQ(argmax[1], 10);
  EXPECT_EQ(argmax[2], 20);
}

TEST_P(RowReduceTest, TiesGoToTheLowestAndNanNeverWins) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const auto fn = kRowReduce.For(GetParam());
  std::vector<float> row(130, -1.0f);
  row[97] = row[41] = row[128] = 3;
  EXPECT_EQ(Reduce(fn, row).argmax, 41);
  row[0] = row[40] = row[129] = kNan;
  EXPECT_EQ(Reduce(fn, row).argmax, 41);
  EXPECT_TRUE(std::isnan(Reduce(fn, row).log_sum_exp));
  EXPECT_EQ(Reduce(fn, {-0.0f, 0.0f}).argmax, 0);
  EXPECT_EQ(Reduce(fn, {kNan, -kInfinity, 1, 1}).argmax, 2);
  EXPECT_EQ(Reduce(fn, {kNan, -kInfinity}).argmax, 1);
}

TEST_P(RowReduceTest, RowsWithoutAFiniteMaximum) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const auto fn = kRowReduce.For(GetParam());
  for (const std::size_t columns : {1, 7, 16, 17, 100}) {
    EXPECT_EQ(Reduce(fn, std::vector<float>(columns, kNan)).argmax, 0);
    EXPECT_TRUE(std::isnan(Reduce(fn, std::vector<float>(columns, kNan)).log_sum_exp));
    EXPECT_EQ(Reduce(fn, std::vector<float>(columns, -kInfinity)).argmax, 0);
    EXPECT_EQ(Reduce(fn, std::vector<float>(columns, -kInfinity)).log_sum_exp, -kInfinity);
    EXPECT_EQ(Reduce(fn, std::vector<float>(columns, kInfinity)).log_sum_exp, kInfinity);
  }
}

TEST(RowReduceReferenceTest, AgreesWithDoubles) {
  const std::vector<float> row = RandomFloats(3, 151936, -20, 15);
  double sum = 0;
  for (const float x : row) sum += std::exp(static_cast<double>(x));
  const Reduced reduced = Reduce(RowReduceReference, row);
  EXPECT_NEAR(reduced.log_sum_exp, std::log(sum), 1e-6);
  EXPECT_EQ(reduced.argmax, std::max_element(row.begin(), row.end()) - row.begin());
}

}  // namespace
}  // namespace forerun
