#include "kernels/attention/attention_simd.h"
#include "kernels/simd/lanes_avx2.h"

namespace forerun {

void AttentionAvx2(const AttentionArgs& args, WorkRange units, Lane& lane) {
  AttentionLanes<avx2::Lanes>(args, units, lane);
}

}  // namespace forerun
