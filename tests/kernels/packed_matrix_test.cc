#include "kernels/matmul/packed_matrix.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/cases/weights.h"

namespace forerun {
namespace {

class PackedMatrixTest : public testing::TestWithParam<TensorType> {};

INSTANTIATE_TEST_SUITE_P(Type, PackedMatrixTest, testing::ValuesIn(kAllTensorTypes),
                         [](const auto& info) { return std::string(Info(info.param).name); });

TEST_P(PackedMatrixTest, UnpackingGivesEveryBitBack) {
  std::mt19937 random(1);
  const TensorType type = GetParam();
  const int64_t unit = IsFloat(type) ? 5 : Info(type).block_columns;
  for (int num_rows : {1, 2, 15, 16}) {
    for (int64_t columns : {unit, 3 * unit, 4 * unit}) {
      const std::vector<std::byte> rows = RandomWeights(type, num_rows, columns, true, random);
      std::vector<std::byte> group(PackedGroupBytes(type, columns), std::byte{0xa5});
      PackGroup(type, rows.data(), num_rows, columns, group.data());
      std::vector<std::byte> back(rows.size());
      UnpackGroup(type, group.data(), num_rows, columns, back.data());
      EXPECT_EQ(rows, back) << num_rows << " rows of " << columns;
    }
  }
}

TEST_P(PackedMatrixTest, PaddingIsZeroWeights) {
  std::mt19937 random(2);
  const TensorType type = GetParam();
  const int64_t columns = 2 * std::max(Info(type).block_columns, 4);
  const std::vector<std::byte> rows = RandomWeights(type, 3, columns, false, random);
  std::vector<std::byte> group(PackedGroupBytes(type, columns), std::byte{0xa5});
  PackGroup(type, rows.data(), 3, columns, group.data());
  std::vector<std::byte> back(16 * RowBytes(type, columns));
  UnpackGroup(type, group.data(), 16, columns, back.data());
  std::vector<float> weights(columns);
  for (int row = 3; row < 16; ++row) {
    DequantizeRow(type, back.data() + row * RowBytes(type, columns), columns, weights.data());
    for (float weight : weights) EXPECT_EQ(weight, 0.0f);
  }
}

TEST_P(PackedMatrixTest, TakesLittleMoreThanTheFile) {
  const TensorType type = GetParam();
  const std::size_t packed = PackedGroupBytes(type, 1536);
  EXPECT_EQ(packed % 64, 0u);
  EXPECT_LE(static_cast<double>(packed), 1.04 * 16 * static_cast<double>(RowBytes(type, 1536)));
}

}  // namespace
}  // namespace forerun
