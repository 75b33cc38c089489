// Eight outputs a register; bytes are multiplied into 16-bit sums, which are widened once a sub-block.
#include "kernels/matmul/vector_avx2.h"
#include "kernels/roof/op_mix_simd.h"

namespace forerun {

void OpMixAvx2(const OpMixArgs& args, WorkRange range, Lane&) { OpMix<avx2::Vector>(args, range); }
void FmaMixAvx2(const FmaMixArgs& args, WorkRange range, Lane&) { FmaMix<avx2::Vector>(args, range); }

}  // namespace forerun
