#include "kernels/gate/gate_simd.h"
#include "kernels/simd/lanes_avx2.h"

namespace forerun {

void GateAvx2(const GateArgs& args, WorkRange rows, Lane&) { GateLanes<avx2::Lanes>(args, rows); }

}  // namespace forerun
