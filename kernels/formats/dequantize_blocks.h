// One block of weights to floats: the arithmetic behind DequantizeRow.
#pragma once

#include "kernels/formats/blocks.h"

namespace forerun {

// out: [kBlockColumns]
void DequantizeBlock(const BlockQ4_0& block, float* out);
void DequantizeBlock(const BlockQ4_1& block, float* out);
void DequantizeBlock(const BlockQ5_0& block, float* out);
void DequantizeBlock(const BlockQ5_1& block, float* out);
void DequantizeBlock(const BlockQ8_0& block, float* out);
// out: [kSuperBlockColumns]
void DequantizeBlock(const BlockQ2_K& block, float* out);
void DequantizeBlock(const BlockQ3_K& block, float* out);
void DequantizeBlock(const BlockQ4_K& block, float* out);
void DequantizeBlock(const BlockQ5_K& block, float* out);
void DequantizeBlock(const BlockQ6_K& block, float* out);

}  // namespace forerun
