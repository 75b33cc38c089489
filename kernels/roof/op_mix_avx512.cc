// Bytes are multiplied into 16-bit sums.
#include "kernels/roof/op_mix_avx512.h"

#include "kernels/roof/op_mix_simd.h"

namespace forerun {

void OpMixAvx512(const OpMixArgs& args, WorkRange range, Lane&) { OpMix<avx512::MixOps<false>>(args, range); }
void FmaMixAvx512(const FmaMixArgs& args, WorkRange range, Lane&) {
  FmaMix<avx512::MixOps<false>>(args, range);
}

}  // namespace forerun
