// One register of sixteen outputs; vpdpbusd multiplies and adds four columns at once.
#include "kernels/matmul/matmul_a8_simd.h"
#include "kernels/matmul/vector_avx512.h"

namespace forerun {

void MatmulA8Avx512Vnni(const MatmulArgs& args, WorkRange range, Lane& lane) {
  if (IsFloat(args.weights.type)) return MatmulF32Avx512(args, range, lane);
  MatmulA8<avx512::Vector<true>>(args, range, lane);
}

void ArrangeAvx512Vnni(const ArrangeArgs& args, WorkRange range, Lane& lane) {
  Arrange<avx512::Vector<true>>(args, range, lane);
}

}  // namespace forerun
