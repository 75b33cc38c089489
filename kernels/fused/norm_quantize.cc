#include "kernels/fused/norm_quantize.h"

namespace forerun {

void NormQuantize(const NormQuantizeArgs& args, WorkRange rows, Lane& lane) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const WorkRange one{row, row + 1};
    args.kernels->rms_norm(args.norm, one, lane);
    QuantizeInto(*args.kernels, args.norm.y, args.to, one, {0, args.to.columns / kActivationBlock}, lane);
  }
}

void NormAdd(const NormAddArgs& args, WorkRange rows, Lane& lane) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    args.kernels->rms_norm(args.norm, {row, row + 1}, lane);
    args.kernels->add({args.norm.y, args.stream, args.norm.columns}, {row, row + 1}, lane);
  }
}

}  // namespace forerun
