// Two registers of eight outputs.
#include "kernels/matmul/matmul_f32_simd.h"
#include "kernels/matmul/vector_avx2.h"

namespace forerun {

void MatmulF32Avx2(const MatmulArgs& args, WorkRange range, Lane& lane) {
  MatmulF32<avx2::Vector>(args, range, lane);
}

}  // namespace forerun
