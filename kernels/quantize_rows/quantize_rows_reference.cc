// The definition in quantize_rows.h, in plain loops.
#include <cmath>

#include "kernels/quantize_rows/quantize_rows.h"

namespace forerun {
namespace {

void QuantizeBlock(const float* x, int8_t* codes, float* scale, int32_t* sums) {
  float amax = 0.0f;
  for (int i = 0; i < kActivationBlock; ++i) amax = std::fmax(amax, std::fabs(x[i]));
  const float inverse = 127.0f / amax;
  const bool zero = std::isinf(inverse);
  *scale = zero ? 0.0f : amax / 127.0f;
  sums[0] = sums[1] = 0;
  for (int i = 0; i < kActivationBlock; ++i) {
    codes[i] = zero ? int8_t{0} : static_cast<int8_t>(std::lrint(x[i] * inverse));
    sums[i / 16] += codes[i];
  }
}

}  // namespace

void QuantizeRowsReference(const QuantizeRowsArgs& args, WorkRange range, Lane&) {
  const int64_t stride = (args.stride > 0 ? args.stride : args.columns) / kActivationBlock;
  for (int64_t row = range.begin; row < range.end; ++row) {
    for (int64_t block = row * stride; block < row * stride + args.columns / kActivationBlock; ++block) {
      QuantizeBlock(args.x + block * kActivationBlock, args.codes + block * kActivationBlock,
                    args.scales + block, args.sums + 2 * block);
    }
  }
}

}  // namespace forerun
