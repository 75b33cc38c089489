// One register of sixteen outputs; bytes are multiplied into 16-bit sums.
#include "kernels/matmul/matmul_a8_simd.h"
#include "kernels/matmul/vector_avx512.h"

namespace forerun {

void MatmulA8Avx512(const MatmulArgs& args, WorkRange range, Lane& lane) {
  if (IsFloat(args.weights.type)) return MatmulF32Avx512(args, range, lane);
  MatmulA8<avx512::Vector<false>>(args, range, lane);
}

void ArrangeAvx512(const ArrangeArgs& args, WorkRange range, Lane& lane) {
  Arrange<avx512::Vector<false>>(args, range, lane);
}

}  // namespace forerun
