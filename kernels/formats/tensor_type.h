// The tensor types of GGUF files and the size of their blocks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace forerun {

// The values are GGUF's own ids.
enum class TensorType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kBF16 = 30,
};

struct TensorTypeInfo {
  TensorType type;
  const char* name;   // "Q4_K"
  int block_columns;  // weights per block
  int block_bytes;
};

// Null for an id that is not one of TensorType.
const TensorTypeInfo* FindTensorType(uint32_t id);
const TensorTypeInfo& Info(TensorType type);
inline std::size_t RowBytes(TensorType type, int64_t columns) {
  const TensorTypeInfo& info = Info(type);
  return static_cast<std::size_t>(columns / info.block_columns) * info.block_bytes;
}
inline bool IsFloat(TensorType type) {
  return type == TensorType::kF32 || type == TensorType::kF16 || type == TensorType::kBF16;
}

// out: [columns]. The definition of what a weight is worth, operation by operation as ggml has it: products
// and differences in float32, each rounded once.
void DequantizeRow(TensorType type, const void* row, int64_t columns, float* out);

float HalfToFloat(uint16_t half);
uint16_t FloatToHalf(float value);  // round to nearest even, as vcvtps2ph does

}  // namespace forerun
