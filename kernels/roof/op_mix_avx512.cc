// Bytes are multiplied into 16-bit sums.
#include "kernels/matmul/vector_avx512.h"
#include "kernels/roof/op_mix_simd.h"

namespace forerun {

void OpMixAvx512(const OpMixArgs& args, WorkRange range, Lane&) { OpMix<avx512::Vector<false>>(args, range); }
void FmaMixAvx512(const FmaMixArgs& args, WorkRange range, Lane&) {
  FmaMix<avx512::Vector<false>>(args, range);
}

}  // namespace forerun
