// The definition of rope.h in plain loops.
#include "kernels/rope/rope.h"

namespace forerun {

void RopeReference(const RopeArgs& args, WorkRange rows, Lane&) {
  const int half = args.rotary / 2;
  const bool interleaved = args.pairing == RopePairing::kInterleaved;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* const cosines = args.cosines + static_cast<int64_t>(args.positions[row]) * half;
    const float* const sines = args.sines + static_cast<int64_t>(args.positions[row]) * half;
    for (int head = 0; head < args.heads; ++head) {
      float* const x = args.x + row * args.row_stride + static_cast<int64_t>(head) * args.head_size;
      for (int i = 0; i < half; ++i) {
        float& a = interleaved ? x[2 * i] : x[i];
        float& b = interleaved ? x[2 * i + 1] : x[i + half];
        const float turned_a = a * cosines[i] - b * sines[i];
        const float turned_b = a * sines[i] + b * cosines[i];
        a = turned_a;
        b = turned_b;
      }
    }
  }
}

}  // namespace forerun
