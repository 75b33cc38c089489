// K-quants: super-blocks of 256 columns whose sub-blocks have integer scales (and minima) under
// half-precision ones. The sub-block's scale d * sc is rounded once, then multiplied with the code, then the
// rounded minimum is taken off.
#include "kernels/formats/dequantize_blocks.h"
#include "kernels/formats/tensor_type.h"

namespace forerun {

void DequantizeBlock(const BlockQ2_K& block, float* out) {
  const float d = HalfToFloat(block.d);
  const float dmin = HalfToFloat(block.dmin);
  for (int i = 0; i < kSuperBlockColumns; ++i) {
    const int scale = block.scales[i / 16];
    const int code = (block.qs[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
    out[i] = (d * static_cast<float>(scale & 15)) * static_cast<float>(code) -
             dmin * static_cast<float>(scale >> 4);
  }
}

void DequantizeBlock(const BlockQ3_K& block, float* out) {
  const float d = HalfToFloat(block.d);
  int8_t sc[16];
  UnpackQ3Scales(block.scales, sc);
  for (int i = 0; i < kSuperBlockColumns; ++i) {
    const int low = (block.qs[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2)) & 3;
    const int lowered = ((block.hmask[i % 32] >> (i / 32)) & 1) != 0 ? 0 : 4;
    out[i] = (d * static_cast<float>(sc[i / 16])) * static_cast<float>(low - lowered);
  }
}

void DequantizeBlock(const BlockQ4_K& block, float* out) {
  const float d = HalfToFloat(block.d);
  const float dmin = HalfToFloat(block.dmin);
  uint8_t sc[8];
  uint8_t mn[8];
  UnpackKScales(block.scales, sc, mn);
  for (int i = 0; i < kSuperBlockColumns; ++i) {
    const int code = (block.qs[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4)) & 15;
    out[i] = (d * static_cast<float>(sc[i / 32])) * static_cast<float>(code) -
             dmin * static_cast<float>(mn[i / 32]);
  }
}

void DequantizeBlock(const BlockQ5_K& block, float* out) {
  const float d = HalfToFloat(block.d);
  const float dmin = HalfToFloat(block.dmin);
  uint8_t sc[8];
  uint8_t mn[8];
  UnpackKScales(block.scales, sc, mn);
  for (int i = 0; i < kSuperBlockColumns; ++i) {
    const int low = (block.qs[i / 64 * 32 + i % 32] >> (i % 64 / 32 * 4)) & 15;
    const int code = low | ((block.qh[i % 32] >> (i / 32)) & 1) << 4;
    out[i] = (d * static_cast<float>(sc[i / 32])) * static_cast<float>(code) -
             dmin * static_cast<float>(mn[i / 32]);
  }
}

void DequantizeBlock(const BlockQ6_K& block, float* out) {
  const float d = HalfToFloat(block.d);
  for (int i = 0; i < kSuperBlockColumns; ++i) {
    const int part = i % 128 / 32;
    const int low = (block.ql[i / 128 * 64 + part % 2 * 32 + i % 32] >> (part / 2 * 4)) & 15;
    const int high = (block.qh[i / 128 * 32 + i % 32] >> (part * 2)) & 3;
    out[i] = (d * static_cast<float>(block.scales[i / 16])) * static_cast<float>((low | high << 4) - 32);
  }
}

}  // namespace forerun
