// vpdpbusd multiplies and adds four columns at once.
#include "kernels/matmul/vector_avx512.h"
#include "kernels/roof/op_mix_simd.h"

namespace forerun {

void OpMixAvx512Vnni(const OpMixArgs& args, WorkRange range, Lane&) {
  OpMix<avx512::Vector<true>>(args, range);
}

}  // namespace forerun
