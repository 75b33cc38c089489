// Rows of activations as the matrix product takes them, in both numerics.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/matmul/matmul.h"

namespace forerun {

struct Activations {
  // x: [rows, columns]. Columns that are no multiple of 32 have no codes.
  Activations(std::vector<float> x, int64_t columns);

  // The operands of a product over the `rows` rows from `first` on; weights, bias and y are the caller's.
  MatmulArgs Rows(int64_t first, int64_t rows) const;

  int64_t columns;
  std::vector<float> x;
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> sums;
};

}  // namespace forerun
