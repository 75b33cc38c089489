// Where an operation leaves rows for the next a8 product: as int8 codes, and arranged for each weight type
// that reads them.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/kernels.h"

namespace forerun {

struct QuantizedRows {
  static constexpr int kMostTypes = 3;  // q, k and v may all differ
  struct Arrangement {
    TensorType type = TensorType::kF32;
    std::byte* arranged = nullptr;  // [ArrangedBytes(rows, columns)]
  };

  int64_t rows = 0;
  int64_t columns = 0;
  int8_t* codes = nullptr;  // [rows, columns]
  float* scales = nullptr;  // [rows, columns / 32]
  int32_t* sums = nullptr;  // [rows, columns / 16]
  std::array<Arrangement, kMostTypes> arrangements;
  int num_arrangements = 0;  // 0: no product wants codes, and nothing is written
};

// Quantises and arranges columns [32 * blocks.begin, 32 * blocks.end) of rows [rows.begin, rows.end) of x,
// [rows, columns].
void QuantizeInto(const Kernels& kernels, const float* x, const QuantizedRows& to, WorkRange rows,
                  WorkRange blocks, Lane& lane);

}  // namespace forerun
