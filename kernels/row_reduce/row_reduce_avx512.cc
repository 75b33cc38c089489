#include "kernels/row_reduce/row_reduce_simd.h"
#include "kernels/simd/double_lanes_avx512.h"
#include "kernels/simd/lanes_avx512.h"

namespace forerun {

void RowReduceAvx512(const RowReduceArgs& args, WorkRange rows, Lane&) {
  RowReduceLanes<avx512::Lanes>(args, rows);
}

}  // namespace forerun
