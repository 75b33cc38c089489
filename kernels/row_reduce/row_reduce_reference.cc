// The definition of row_reduce.h in plain loops.
#include <cmath>
#include <limits>

#include "kernels/row_reduce/row_reduce.h"
#include "kernels/simd/exp.h"

namespace forerun {
namespace {

int64_t Argmax(const float* x, int64_t columns) {
  int64_t best = -1;
  for (int64_t c = 0; c < columns; ++c) {
    if (x[c] == x[c] && (best < 0 || x[c] > x[best])) best = c;
  }
  return best < 0 ? 0 : best;
}

double LogSumExp(const float* x, int64_t columns) {
  const float largest = x[Argmax(x, columns)];
  if (!std::isfinite(largest)) return largest;
  double lanes[16] = {};
  for (int64_t c = 0; c < columns; ++c) lanes[c % 16] += Exp(x[c] - largest);
  for (int width = 8; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return largest + std::log(lanes[0]);
}

}  // namespace

void RowReduceReference(const RowReduceArgs& args, WorkRange rows, Lane&) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* const x = args.x + row * args.stride;
    if (args.argmax != nullptr) args.argmax[row] = static_cast<int32_t>(Argmax(x, args.columns));
    if (args.log_sum_exp != nullptr) args.log_sum_exp[row] = LogSumExp(x, args.columns);
  }
}

}  // namespace forerun
