// y = x / sqrt(mean(x^2) + epsilon) * gain, row by row. y may be x.
// Numerics: 16 partial sums, lane j taking x[j], x[j + 16], ... by fma; lanes added 8+8, 4+4, 2+2, 1+1;
// inv = 1 / sqrt(sum / columns + epsilon); y = (x * inv) * gain.
#pragma once

#include <cstdint>

#include "kernels/variants.h"

namespace forerun {

struct RmsNormArgs {
  const float* x = nullptr;     // [rows, stride], of which the first `columns`
  const float* gain = nullptr;  // [columns]
  float* y = nullptr;           // [rows, stride]
  int64_t columns = 0;
  float epsilon = 0;
  int64_t stride = 0;  // floats from row to row of x and y; 0: columns
};

// Unit: one row.
void RmsNormReference(const RmsNormArgs&, WorkRange, Lane&);
void RmsNormAvx2(const RmsNormArgs&, WorkRange, Lane&);
void RmsNormAvx512(const RmsNormArgs&, WorkRange, Lane&);
inline constexpr Variants<RmsNormArgs> kRmsNorm{RmsNormReference, RmsNormAvx2, RmsNormAvx512};

}  // namespace forerun
