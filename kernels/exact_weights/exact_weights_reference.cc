// The definition of exact_weights.h in a plain loop.
#include "kernels/exact_weights/exact_weights.h"
#include "kernels/simd/exp64.h"

namespace forerun {

void ExactWeightsReference(const ExactWeightsArgs& args, WorkRange, Lane&) {
  const double largest = args.largest, temperature = args.temperature;
  for (int64_t c = 0; c < args.columns; ++c) args.weights[c] = Exp64((args.x[c] - largest) / temperature);
}

}  // namespace forerun
