// The activations of the a8 numerics: each row rounded to int8 in blocks of 32 columns, one scale a block.
//   amax = max |x|;  d = amax / 127;  q = round_to_nearest_even(x * (127 / amax))
//   d = 0 and q = 0 where 127 / amax is infinite: amax is 0, or below 4e-37
// A row's codes depend on that row alone.
#pragma once

#include <cstdint>

#include "kernels/variants.h"

namespace forerun {

inline constexpr int kActivationBlock = 32;

struct QuantizeRowsArgs {
  const float* x = nullptr;  // [rows, stride], of which the first `columns`
  int64_t columns = 0;       // a multiple of 32
  int8_t* codes = nullptr;   // [rows, stride]
  float* scales = nullptr;   // [rows, stride / 32]
  int32_t* sums = nullptr;   // [rows, stride / 16]: sum of the codes of each half block
  int64_t stride = 0;        // a multiple of 32; 0: columns
};

// Unit: one row.
void QuantizeRowsReference(const QuantizeRowsArgs&, WorkRange, Lane&);
void QuantizeRowsAvx2(const QuantizeRowsArgs&, WorkRange, Lane&);
void QuantizeRowsAvx512(const QuantizeRowsArgs&, WorkRange, Lane&);
inline constexpr Variants<QuantizeRowsArgs> kQuantizeRows{QuantizeRowsReference, QuantizeRowsAvx2,
                                                          QuantizeRowsAvx512};

}  // namespace forerun
