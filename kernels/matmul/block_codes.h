// A block of a GGUF row, taken apart into unsigned codes in column order and byte scales, and put together
// again.
#pragma once

#include <cstdint>

#include "kernels/formats/tensor_type.h"

namespace forerun {

struct BlockParts {
  uint16_t d;
  uint16_t m;          // Q4_1, Q5_1: m; Q2_K, Q4_K, Q5_K: dmin; otherwise unused
  uint8_t scales[16];  // Q2_K, Q3_K (signed), Q6_K (signed): [16]; Q4_K, Q5_K: sc of the eight sub-blocks,
                       // then mn
  alignas(64) uint8_t codes[256];
};

// Quantised types only. `block` is Info(type).block_bytes long.
void TakeApart(TensorType type, const void* block, BlockParts& parts);
void PutTogether(TensorType type, const BlockParts& parts, void* block);

}  // namespace forerun
