#include "kernels/fused/quantized_rows.h"

namespace forerun {

void QuantizeInto(const Kernels& kernels, const float* x, const QuantizedRows& to, WorkRange rows,
                  WorkRange blocks, Lane& lane) {
  if (to.num_arrangements == 0) return;
  const int64_t column = blocks.begin * kActivationBlock;
  const int64_t count = blocks.end - blocks.begin;
  kernels.quantize_rows({.x = x + column,
                         .columns = count * kActivationBlock,
                         .codes = to.codes + column,
                         .scales = to.scales + blocks.begin,
                         .sums = to.sums + 2 * blocks.begin,
                         .stride = to.columns},
                        rows, lane);
  for (int i = 0; i < to.num_arrangements; ++i) {
    kernels.arrange({.type = to.arrangements[i].type,
                     .rows = to.rows,
                     .columns = to.columns,
                     .first_block = blocks.begin,
                     .blocks = count,
                     .codes = to.codes,
                     .scales = to.scales,
                     .sums = to.sums,
                     .arranged = to.arrangements[i].arranged},
                    rows, lane);
  }
}

}  // namespace forerun
