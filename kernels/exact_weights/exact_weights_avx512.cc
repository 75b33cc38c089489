#include "kernels/exact_weights/exact_weights_simd.h"
#include "kernels/simd/double_lanes_avx512.h"
#include "kernels/simd/lanes_avx512.h"

namespace forerun {

void ExactWeightsAvx512(const ExactWeightsArgs& args, WorkRange, Lane&) {
  ExactWeightsLanes<avx512::Lanes, avx512::DoubleLanes>(args);
}

}  // namespace forerun
