#include "kernels/simd/double_lanes_avx2.h"
#include "kernels/simd/lanes_avx2.h"
#include "kernels/softmax_weights/softmax_weights_simd.h"

namespace forerun {

void SoftmaxWeightsAvx2(const SoftmaxWeightsArgs& args, WorkRange, Lane&) {
  SoftmaxWeightsLanes<avx2::Lanes>(args);
}

void AtLeastAvx2(const AtLeastArgs& args, WorkRange, Lane&) { AtLeastLanes<avx2::Lanes>(args); }

}  // namespace forerun
