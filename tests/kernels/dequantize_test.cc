// DequantizeRow against answers of ggml's own Python package (tests/golden/dequantize.json says how they were
// made), and half-precision conversion over all halves.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "kernels/formats/blocks.h"
#include "kernels/formats/tensor_type.h"

namespace forerun {
namespace {

constexpr uint32_t kMaxId = 64;

TensorType TypeNamed(const std::string& name) {
  for (uint32_t id = 0; id < kMaxId; ++id) {
    const TensorTypeInfo* info = FindTensorType(id);
    if (info != nullptr && name == info->name) return info->type;
  }
  ADD_FAILURE() << "no tensor type " << name;
  return TensorType::kF32;
}

nlohmann::json Golden() {
  std::ifstream file(std::string(FORERUN_SOURCE_DIR) + "/tests/golden/dequantize.json");
  return nlohmann::json::parse(file);
}

TEST(TensorTypeTest, TableIsConsistent) {
  int known = 0;
  for (uint32_t id = 0; id < kMaxId; ++id) {
    const TensorTypeInfo* info = FindTensorType(id);
    if (info == nullptr) continue;
    ++known;
    EXPECT_EQ(static_cast<uint32_t>(info->type), id);
    EXPECT_EQ(&Info(info->type), info);
    EXPECT_EQ(RowBytes(info->type, 512), static_cast<size_t>(512 / info->block_columns * info->block_bytes));
  }
  EXPECT_EQ(known, 13);
  EXPECT_EQ(FindTensorType(4), nullptr);
  EXPECT_EQ(FindTensorType(std::numeric_limits<uint32_t>::max()), nullptr);
  EXPECT_TRUE(IsFloat(TensorType::kBF16));
  EXPECT_FALSE(IsFloat(TensorType::kQ8_0));
}

TEST(DequantizeRowTest, MatchesGoldenBitForBit) {
  const nlohmann::json golden = Golden();
  ASSERT_EQ(golden["cases"].size(), 13u);
  for (const nlohmann::json& test : golden["cases"]) {
    const TensorType type = TypeNamed(test["type"]);
    const int64_t columns = test["columns"];
    const std::string row = absl::HexStringToBytes(std::string(test["row"]));
    const std::string expected = absl::HexStringToBytes(std::string(test["floats"]));
    ASSERT_EQ(row.size(), RowBytes(type, columns)) << Info(type).name;
    ASSERT_EQ(expected.size(), columns * sizeof(float)) << Info(type).name;
    std::vector<float> out(columns);
    DequantizeRow(type, row.data(), columns, out.data());
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), expected.size()), 0) << Info(type).name;
  }
}

TEST(DequantizeRowTest, RowMayStartAnywhere) {
  const nlohmann::json golden = Golden();
  for (const nlohmann::json& test : golden["cases"]) {
    const TensorType type = TypeNamed(test["type"]);
    const int64_t columns = test["columns"];
    const std::string shifted = "x" + absl::HexStringToBytes(std::string(test["row"]));
    const std::string expected = absl::HexStringToBytes(std::string(test["floats"]));
    std::vector<float> out(columns);
    DequantizeRow(type, shifted.data() + 1, columns, out.data());
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), expected.size()), 0) << Info(type).name;
  }
}

// Sub-block s has scale and minimum s * 7 + 3 and 63 - s: six bits, some in each half of the packing.
TEST(ScalesTest, KScalesUnpackWhatWasPacked) {
  uint8_t packed[12] = {};
  for (int s = 0; s < 8; ++s) {
    const int scale = s * 7 + 3;
    const int minimum = 63 - s;
    if (s < 4) {
      packed[s] |= scale;
      packed[s + 4] |= minimum;
    } else {
      packed[s + 4] |= (scale & 15) | (minimum & 15) << 4;
      packed[s - 4] |= scale >> 4 << 6;
      packed[s] |= minimum >> 4 << 6;
    }
  }
  uint8_t scales[8];
  uint8_t minima[8];
  UnpackKScales(packed, scales, minima);
  for (int s = 0; s < 8; ++s) {
    EXPECT_EQ(scales[s], s * 7 + 3);
    EXPECT_EQ(minima[s], 63 - s);
  }
}

TEST(ScalesTest, Q3ScalesUnpackWhatWasPacked) {
  uint8_t packed[12] = {};
  for (int s = 0; s < 16; ++s) {
    const int stored = s * 4 + 1;
    packed[s % 8] |= (stored & 15) << (s < 8 ? 0 : 4);
    packed[8 + s % 4] |= stored >> 4 << (2 * (s / 4));
  }
  int8_t scales[16];
  UnpackQ3Scales(packed, scales);
  for (int s = 0; s < 16; ++s) EXPECT_EQ(scales[s], s * 4 + 1 - 32);
}

float SlowHalfToFloat(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return static_cast<float>((half & 0x8000) != 0 ? -magnitude : magnitude);
}

TEST(HalfTest, EveryFiniteHalfConvertsAndComesBack) {
  for (uint32_t half = 0; half < 65536; ++half) {
    if ((half & 0x7c00) == 0x7c00) continue;
    const float value = HalfToFloat(half);
    ASSERT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(SlowHalfToFloat(half))) << half;
    ASSERT_EQ(FloatToHalf(value), half);
  }
}

TEST(HalfTest, InfinityAndNanKeepSignAndBecomeQuiet) {
  EXPECT_EQ(HalfToFloat(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(HalfToFloat(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(std::bit_cast<uint32_t>(HalfToFloat(0xfd55)), 0xffc00000 | 0x155u << 13);
  EXPECT_EQ(FloatToHalf(std::bit_cast<float>(0xff800001u)), 0xfe00);
  EXPECT_EQ(FloatToHalf(std::bit_cast<float>(0x7fd55555u)), 0x7e00 | (0x555555 >> 13));
  EXPECT_EQ(FloatToHalf(-std::numeric_limits<float>::infinity()), 0xfc00);
}

// Around the middle between two neighbouring halves, the last one before infinity included.
TEST(HalfTest, RoundsToNearestEven) {
  for (uint16_t half = 0; half < 0x7c00; ++half) {
    const double above = half == 0x7bff ? 65536.0 : HalfToFloat(half + 1);
    const auto middle = static_cast<float>((HalfToFloat(half) + above) / 2);
    const uint16_t even = half + (half & 1);
    ASSERT_EQ(FloatToHalf(middle), even) << half;
    ASSERT_EQ(FloatToHalf(-middle), even | 0x8000) << half;
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 0.0f)), half);
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 1e30f)), half + 1);
  }
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::max()), 0x7c00);
}

}  // namespace
}  // namespace forerun
