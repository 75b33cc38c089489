#include "kernels/cases/weights.h"

#include <algorithm>
#include <cstring>

namespace forerun {
namespace {

// Byte offsets of the half-precision scales within a block.
std::vector<int> ScaleOffsets(TensorType type) {
  switch (type) {
    case TensorType::kQ4_0:
    case TensorType::kQ5_0:
    case TensorType::kQ8_0:
      return {0};
    case TensorType::kQ4_1:
    case TensorType::kQ5_1:
    case TensorType::kQ4_K:
    case TensorType::kQ5_K:
      return {0, 2};
    case TensorType::kQ2_K:
      return {80, 82};
    case TensorType::kQ3_K:
      return {108};
    case TensorType::kQ6_K:
      return {208};
    default:
      return {};
  }
}

uint16_t RandomHalf(bool extreme, std::mt19937& random) {
  const uint16_t sign = static_cast<uint16_t>(random() & 0x8000);
  if (!extreme) return sign | FloatToHalf(0.004f + 0.01f * static_cast<float>(random() % 1024) / 1024.0f);
  switch (random() % 4) {
    case 0:
      return sign | static_cast<uint16_t>(random() % 0x400);  // zero or subnormal
    case 1:
      return sign | static_cast<uint16_t>(0x7800 + random() % 0x400);  // 32768 .. 65504
    default:
      return sign | static_cast<uint16_t>(random() % 0x7c00);  // any finite one
  }
}

void FillFloats(TensorType type, bool extreme, std::mt19937& random, std::vector<std::byte>& rows) {
  std::normal_distribution<float> normal(0.0f, 0.05f);
  const int size = Info(type).block_bytes;
  for (std::size_t at = 0; at < rows.size(); at += size) {
    const float value = normal(random) * (extreme ? 1e4f : 1.0f);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    const uint16_t half = type == TensorType::kF16 ? FloatToHalf(value) : static_cast<uint16_t>(bits >> 16);
    if (size == 4) std::memcpy(&rows[at], &value, 4);
    if (size == 2) std::memcpy(&rows[at], &half, 2);
  }
}

}  // namespace

std::vector<std::byte> RandomWeights(TensorType type, int64_t outputs, int64_t columns, bool extreme,
                                     std::mt19937& random) {
  std::vector<std::byte> rows(static_cast<std::size_t>(outputs) * RowBytes(type, columns));
  if (IsFloat(type)) {
    FillFloats(type, extreme, random, rows);
    return rows;
  }
  for (std::byte& byte : rows) byte = static_cast<std::byte>(random());
  for (std::size_t block = 0; block < rows.size(); block += Info(type).block_bytes) {
    for (int offset : ScaleOffsets(type)) {
      const uint16_t half = RandomHalf(extreme, random);
      std::memcpy(&rows[block + offset], &half, 2);
    }
  }
  return rows;
}

void ScaleWeights(TensorType type, float factor, std::vector<std::byte>& rows) {
  for (std::size_t block = 0; block < rows.size(); block += Info(type).block_bytes) {
    for (const int offset : ScaleOffsets(type)) {
      uint16_t half;
      std::memcpy(&half, &rows[block + offset], 2);
      half = FloatToHalf(HalfToFloat(half) * factor);
      std::memcpy(&rows[block + offset], &half, 2);
    }
  }
}

PackedWeights::PackedWeights(TensorType type, int64_t outputs, int64_t columns,
                             const std::vector<std::byte>& rows) {
  const std::size_t group_bytes = PackedGroupBytes(type, columns);
  auto* data = static_cast<std::byte*>(memory_.Scratch(PackedBytes(type, outputs, columns)));
  for (int64_t group = 0; group < PackedGroups(outputs); ++group) {
    const int64_t first = group * kPackedOutputs;
    PackGroup(type, rows.data() + first * RowBytes(type, columns),
              static_cast<int>(std::min<int64_t>(kPackedOutputs, outputs - first)), columns,
              data + group * group_bytes);
  }
  matrix_ = {type, outputs, columns, data};
}

}  // namespace forerun
