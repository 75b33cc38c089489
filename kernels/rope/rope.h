// Rotary position embedding (arXiv:2104.09864), in place: each pair (a, b) of a head becomes
// (a * cos - b * sin, a * sin + b * cos), each product rounded, no fma.
// Pairs are (2i, 2i + 1) for kInterleaved (llama files), (i, i + rotary / 2) for kHalves (qwen2, gemma3).
#pragma once

#include <cstdint>

#include "kernels/variants.h"

namespace forerun {

enum class RopePairing { kInterleaved, kHalves };

struct RopeArgs {
  float* x = nullptr;  // [rows, row_stride], heads of head_size one after another
  int64_t row_stride = 0;
  int heads = 0;
  int head_size = 0;
  int rotary = 0;  // the first `rotary` values of a head turn; even, <= head_size
  RopePairing pairing = RopePairing::kHalves;
  const int32_t* positions = nullptr;  // [rows]
  const float* cosines = nullptr;      // [positions, rotary / 2]
  const float* sines = nullptr;        // [positions, rotary / 2]
};

// Unit: one row.
void RopeReference(const RopeArgs&, WorkRange, Lane&);
void RopeAvx2(const RopeArgs&, WorkRange, Lane&);
inline constexpr Variants<RopeArgs> kRope{RopeReference, RopeAvx2};

}  // namespace forerun
