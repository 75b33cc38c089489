// The definition of softmax_weights.h in plain loops.
#include <limits>

#include "kernels/simd/exp.h"
#include "kernels/softmax_weights/softmax_weights.h"

namespace forerun {

void SoftmaxWeightsReference(const SoftmaxWeightsArgs& args, WorkRange, Lane&) {
  double lanes[16] = {};
  for (int64_t c = 0; c < args.columns; ++c) {
    const bool known = args.x[c] == args.x[c];
    const float x = known ? args.x[c] : -std::numeric_limits<float>::infinity();
    args.weights[c] = Exp((x - args.largest) / args.temperature);
    lanes[c % 16] += args.weights[c];
  }
  for (int width = 8; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  *args.sum = lanes[0];
}

void AtLeastReference(const AtLeastArgs& args, WorkRange, Lane&) {
  int64_t count = 0;
  for (int64_t c = 0; c < args.columns; ++c) {
    if (args.x[c] >= args.floor) args.places[count++] = static_cast<int32_t>(c);
  }
  *args.count = count;
}

}  // namespace forerun
