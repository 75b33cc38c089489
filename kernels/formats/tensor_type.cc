// The table of tensor types, and half-precision conversion in integer arithmetic (the same on every machine).
#include "kernels/formats/tensor_type.h"

#include <bit>
#include <cstdint>

#include "kernels/formats/blocks.h"

namespace forerun {
namespace {

constexpr TensorTypeInfo kTensorTypes[] = {
    {TensorType::kF32, "F32", 1, 4},
    {TensorType::kF16, "F16", 1, 2},
    {TensorType::kQ4_0, "Q4_0", kBlockColumns, sizeof(BlockQ4_0)},
    {TensorType::kQ4_1, "Q4_1", kBlockColumns, sizeof(BlockQ4_1)},
    {TensorType::kQ5_0, "Q5_0", kBlockColumns, sizeof(BlockQ5_0)},
    {TensorType::kQ5_1, "Q5_1", kBlockColumns, sizeof(BlockQ5_1)},
    {TensorType::kQ8_0, "Q8_0", kBlockColumns, sizeof(BlockQ8_0)},
    {TensorType::kQ2_K, "Q2_K", kSuperBlockColumns, sizeof(BlockQ2_K)},
    {TensorType::kQ3_K, "Q3_K", kSuperBlockColumns, sizeof(BlockQ3_K)},
    {TensorType::kQ4_K, "Q4_K", kSuperBlockColumns, sizeof(BlockQ4_K)},
    {TensorType::kQ5_K, "Q5_K", kSuperBlockColumns, sizeof(BlockQ5_K)},
    {TensorType::kQ6_K, "Q6_K", kSuperBlockColumns, sizeof(BlockQ6_K)},
    {TensorType::kBF16, "BF16", 1, 2},
};

}  // namespace

const TensorTypeInfo* FindTensorType(uint32_t id) {
  for (const TensorTypeInfo& info : kTensorTypes) {
    if (static_cast<uint32_t>(info.type) == id) return &info;
  }
  return nullptr;
}

const TensorTypeInfo& Info(TensorType type) { return *FindTensorType(static_cast<uint32_t>(type)); }

float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 31;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(static_cast<float>(fraction) * 0x1p-24f);
    return std::bit_cast<float>(sign | magnitude);
  }
  if (exponent == 31) {
    const uint32_t quiet = fraction == 0 ? 0 : 0x400000;
    return std::bit_cast<float>(sign | 0x7f800000 | quiet | (fraction << 13));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  uint32_t half;
  if (magnitude > 0x7f800000) {  // NaN: made quiet, payload kept
    half = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  } else if (magnitude >= 0x477ff000) {  // 65520 and above round to infinity
    half = 0x7c00;
  } else if (magnitude >= 0x38800000) {  // 2^-14 and above: normal
    half = (magnitude + 0xfff + ((magnitude >> 13) & 1) - (112u << 23)) >> 13;
  } else {  // in units of 2^-24, the smallest half
    const uint32_t shift = 126 - (magnitude >> 23);
    if (shift > 24) return static_cast<uint16_t>(sign);
    const uint32_t fraction = (magnitude & 0x7fffff) | 0x800000;
    const uint32_t rest = fraction & ((1u << shift) - 1);
    const uint32_t tie = 1u << (shift - 1);
    half = fraction >> shift;
    half += rest > tie || (rest == tie && (half & 1) != 0);
  }
  return static_cast<uint16_t>(sign | half);
}

}  // namespace forerun
