// The definition of rms_norm.h in plain loops.
#include <cmath>

#include "kernels/rms_norm/rms_norm.h"

namespace forerun {

void RmsNormReference(const RmsNormArgs& args, WorkRange rows, Lane&) {
  const int64_t stride = args.stride > 0 ? args.stride : args.columns;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* const x = args.x + row * stride;
    float* const y = args.y + row * stride;
    float lanes[16] = {};
    for (int64_t c = 0; c < args.columns; ++c) lanes[c % 16] = std::fma(x[c], x[c], lanes[c % 16]);
    for (int width = 8; width > 0; width /= 2) {
      for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    }
    const float inverse = 1.0f / std::sqrt(lanes[0] / static_cast<float>(args.columns) + args.epsilon);
    for (int64_t c = 0; c < args.columns; ++c) y[c] = (x[c] * inverse) * args.gain[c];
  }
}

}  // namespace forerun
