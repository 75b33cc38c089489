#include "kernels/row_reduce/row_reduce_simd.h"
#include "kernels/simd/double_lanes_avx2.h"
#include "kernels/simd/lanes_avx2.h"

namespace forerun {

void RowReduceAvx2(const RowReduceArgs& args, WorkRange rows, Lane&) {
  RowReduceLanes<avx2::Lanes>(args, rows);
}

}  // namespace forerun
