#include "kernels/gate/gate_simd.h"
#include "kernels/simd/lanes_avx512.h"

namespace forerun {

void GateAvx512(const GateArgs& args, WorkRange rows, Lane&) { GateLanes<avx512::Lanes>(args, rows); }

}  // namespace forerun
