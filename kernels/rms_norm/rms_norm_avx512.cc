#include "kernels/rms_norm/rms_norm_simd.h"
#include "kernels/simd/lanes_avx512.h"

namespace forerun {

void RmsNormAvx512(const RmsNormArgs& args, WorkRange rows, Lane&) {
  RmsNormLanes<avx512::Lanes>(args, rows);
}

}  // namespace forerun
