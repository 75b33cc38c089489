// One register of sixteen outputs.
#include "kernels/matmul/matmul_f32_simd.h"
#include "kernels/matmul/vector_avx512.h"

namespace forerun {

void MatmulF32Avx512(const MatmulArgs& args, WorkRange range, Lane& lane) {
  MatmulF32<avx512::Vector<false>>(args, range, lane);
}

}  // namespace forerun
