// Two registers of eight outputs; bytes are multiplied into 16-bit sums.
#include "kernels/matmul/matmul_a8_simd.h"
#include "kernels/matmul/vector_avx2.h"

namespace forerun {

void MatmulA8Avx2(const MatmulArgs& args, WorkRange range, Lane& lane) {
  if (IsFloat(args.weights.type)) return MatmulF32Avx2(args, range, lane);
  MatmulA8<avx2::Vector>(args, range, lane);
}

void ArrangeAvx2(const ArrangeArgs& args, WorkRange range, Lane& lane) {
  Arrange<avx2::Vector>(args, range, lane);
}

}  // namespace forerun
