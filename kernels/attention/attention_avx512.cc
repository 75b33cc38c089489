#include "kernels/attention/attention_simd.h"
#include "kernels/simd/lanes_avx512.h"

namespace forerun {

void AttentionAvx512(const AttentionArgs& args, WorkRange units, Lane& lane) {
  AttentionLanes<avx512::Lanes>(args, units, lane);
}

}  // namespace forerun
