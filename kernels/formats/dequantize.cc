// DequantizeRow: float types here, one function a block type in dequantize_legacy.cc and dequantize_k.cc.
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/formats/dequantize_blocks.h"
#include "kernels/formats/tensor_type.h"

namespace forerun {
namespace {

float FromBits(float value) { return value; }
float FromHalf(uint16_t half) { return HalfToFloat(half); }
float FromBrain(uint16_t brain) { return std::bit_cast<float>(static_cast<uint32_t>(brain) << 16); }

template <typename Stored>
void Convert(const void* row, int64_t columns, float (*convert)(Stored), float* out) {
  const auto* bytes = static_cast<const unsigned char*>(row);
  for (int64_t i = 0; i < columns; ++i) {
    Stored stored;
    std::memcpy(&stored, bytes + i * sizeof(Stored), sizeof(Stored));
    out[i] = convert(stored);
  }
}

// Blocks are copied out first: a row may start at any address.
template <typename Block>
void ConvertBlocks(const void* row, int64_t columns, int block_columns, float* out) {
  const auto* bytes = static_cast<const unsigned char*>(row);
  for (int64_t i = 0; i < columns / block_columns; ++i) {
    Block block;
    std::memcpy(&block, bytes + i * sizeof(Block), sizeof(Block));
    DequantizeBlock(block, out + i * block_columns);
  }
}

}  // namespace

void DequantizeRow(TensorType type, const void* row, int64_t columns, float* out) {
  const int block_columns = Info(type).block_columns;
  switch (type) {
    case TensorType::kF32:
      return Convert<float>(row, columns, FromBits, out);
    case TensorType::kF16:
      return Convert<uint16_t>(row, columns, FromHalf, out);
    case TensorType::kBF16:
      return Convert<uint16_t>(row, columns, FromBrain, out);
    case TensorType::kQ4_0:
      return ConvertBlocks<BlockQ4_0>(row, columns, block_columns, out);
    case TensorType::kQ4_1:
      return ConvertBlocks<BlockQ4_1>(row, columns, block_columns, out);
    case TensorType::kQ5_0:
      return ConvertBlocks<BlockQ5_0>(row, columns, block_columns, out);
    case TensorType::kQ5_1:
      return ConvertBlocks<BlockQ5_1>(row, columns, block_columns, out);
    case TensorType::kQ8_0:
      return ConvertBlocks<BlockQ8_0>(row, columns, block_columns, out);
    case TensorType::kQ2_K:
      return ConvertBlocks<BlockQ2_K>(row, columns, block_columns, out);
    case TensorType::kQ3_K:
      return ConvertBlocks<BlockQ3_K>(row, columns, block_columns, out);
    case TensorType::kQ4_K:
      return ConvertBlocks<BlockQ4_K>(row, columns, block_columns, out);
    case TensorType::kQ5_K:
      return ConvertBlocks<BlockQ5_K>(row, columns, block_columns, out);
    case TensorType::kQ6_K:
      return ConvertBlocks<BlockQ6_K>(row, columns, block_columns, out);
  }
}

}  // namespace forerun
