// Blocks of 32 columns with one half-precision scale: d * (code - offset), or d * code + m.
#include "kernels/formats/dequantize_blocks.h"
#include "kernels/formats/tensor_type.h"

namespace forerun {
namespace {

int Nibble(const uint8_t qs[16], int column) { return column < 16 ? qs[column] & 15 : qs[column - 16] >> 4; }
int FifthBit(const uint8_t qh[4], int column) { return ((qh[column / 8] >> (column % 8)) & 1) << 4; }

}  // namespace

void DequantizeBlock(const BlockQ4_0& block, float* out) {
  const float d = HalfToFloat(block.d);
  for (int i = 0; i < kBlockColumns; ++i) out[i] = d * static_cast<float>(Nibble(block.qs, i) - 8);
}

void DequantizeBlock(const BlockQ4_1& block, float* out) {
  const float d = HalfToFloat(block.d);
  const float m = HalfToFloat(block.m);
  for (int i = 0; i < kBlockColumns; ++i) out[i] = d * static_cast<float>(Nibble(block.qs, i)) + m;
}

void DequantizeBlock(const BlockQ5_0& block, float* out) {
  const float d = HalfToFloat(block.d);
  for (int i = 0; i < kBlockColumns; ++i) {
    out[i] = d * static_cast<float>((Nibble(block.qs, i) | FifthBit(block.qh, i)) - 16);
  }
}

void DequantizeBlock(const BlockQ5_1& block, float* out) {
  const float d = HalfToFloat(block.d);
  const float m = HalfToFloat(block.m);
  for (int i = 0; i < kBlockColumns; ++i) {
    out[i] = d * static_cast<float>(Nibble(block.qs, i) | FifthBit(block.qh, i)) + m;
  }
}

void DequantizeBlock(const BlockQ8_0& block, float* out) {
  const float d = HalfToFloat(block.d);
  for (int i = 0; i < kBlockColumns; ++i) out[i] = d * static_cast<float>(block.qs[i]);
}

}  // namespace forerun
