#include "kernels/simd/double_lanes_avx512.h"
#include "kernels/simd/lanes_avx512.h"
#include "kernels/softmax_weights/softmax_weights_simd.h"

namespace forerun {

void SoftmaxWeightsAvx512(const SoftmaxWeightsArgs& args, WorkRange, Lane&) {
  SoftmaxWeightsLanes<avx512::Lanes>(args);
}

void AtLeastAvx512(const AtLeastArgs& args, WorkRange, Lane&) { AtLeastLanes<avx512::Lanes>(args); }

}  // namespace forerun
