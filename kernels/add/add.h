// y = y + x, element by element: the residual stream.
#pragma once

#include <cstdint>

#include "kernels/variants.h"

namespace forerun {

struct AddArgs {
  const float* x = nullptr;  // [rows, columns]
  float* y = nullptr;        // [rows, columns]
  int64_t columns = 0;
};

// Unit: one row.
void AddReference(const AddArgs&, WorkRange, Lane&);
void AddAvx2(const AddArgs&, WorkRange, Lane&);
inline constexpr Variants<AddArgs> kAdd{AddReference, AddAvx2};

}  // namespace forerun
