#include "kernels/rms_norm/rms_norm_simd.h"
#include "kernels/simd/lanes_avx2.h"

namespace forerun {

void RmsNormAvx2(const RmsNormArgs& args, WorkRange rows, Lane&) { RmsNormLanes<avx2::Lanes>(args, rows); }

}  // namespace forerun
