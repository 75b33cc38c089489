// Plain loops: what the mixes compute.
#include <cmath>

#include "kernels/roof/op_mix.h"

namespace forerun {
namespace {

constexpr int kOutputs = 16;

int32_t SubBlockSum(const OpMixArgs& args, const OpMixBlock& x, int sub, int output) {
  const int columns = 32 / args.sub_blocks;
  int32_t sum = 0;
  for (int k = sub * columns; k < (sub + 1) * columns; ++k) {
    sum += args.codes[(k / 4 * kOutputs + output) * 4 + k % 4] * x.codes[k];
  }
  return sum;
}

}  // namespace

void OpMixReference(const OpMixArgs& args, WorkRange range, Lane&) {
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    for (int row = 0; row < args.rows; ++row) {
      for (int o = 0; o < kOutputs; ++o) {
        float acc = 0;
        for (int64_t b = 0; b < args.blocks; ++b) {
          const OpMixBlock& x = args.x[b % kOpMixRing * args.rows + row];
          for (int sub = 0; sub < args.sub_blocks; ++sub) {
            const float scale = args.scales[sub * kOutputs + o] * x.d;
            acc = std::fma(static_cast<float>(SubBlockSum(args, x, sub, o)), scale, acc);
            if (args.has_min) acc = std::fma(-args.minima[sub * kOutputs + o], x.d_qsum[sub], acc);
          }
        }
        args.y[(unit * args.rows + row) * kOutputs + o] = acc;
      }
    }
  }
}

void FmaMixReference(const FmaMixArgs& args, WorkRange range, Lane&) {
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    for (int row = 0; row < args.rows; ++row) {
      for (int o = 0; o < kOutputs; ++o) {
        float acc = 0;
        for (int64_t k = 0; k < 32 * args.blocks; ++k) {
          acc = std::fma(args.weights[k % 32 * kOutputs + o], args.x[k % (32 * kOpMixRing) * args.rows + row],
                         acc);
        }
        args.y[(unit * args.rows + row) * kOutputs + o] = acc;
      }
    }
  }
}

}  // namespace forerun
