// RMS norm of a row, then its codes for the products that follow, while the row is in cache.
#pragma once

#include "kernels/fused/quantized_rows.h"

namespace forerun {

struct NormQuantizeArgs {
  const Kernels* kernels = nullptr;
  RmsNormArgs norm;  // whole rows
  QuantizedRows to;  // of norm.y
};

// Unit: one row.
void NormQuantize(const NormQuantizeArgs&, WorkRange, Lane&);

// What a sub-layer adds to the residual stream, normed before it is added (gemma's post norms).
struct NormAddArgs {
  const Kernels* kernels = nullptr;
  RmsNormArgs norm;
  float* stream = nullptr;  // [rows, columns]
};

// Unit: one row.
void NormAdd(const NormAddArgs&, WorkRange, Lane&);

}  // namespace forerun
