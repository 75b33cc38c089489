#include "kernels/exact_weights/exact_weights_simd.h"
#include "kernels/simd/double_lanes_avx2.h"
#include "kernels/simd/lanes_avx2.h"

namespace forerun {

void ExactWeightsAvx2(const ExactWeightsArgs& args, WorkRange, Lane&) {
  ExactWeightsLanes<avx2::Lanes, avx2::DoubleLanes>(args);
}

}  // namespace forerun
