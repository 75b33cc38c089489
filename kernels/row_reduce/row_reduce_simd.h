// row_reduce.h over a Lanes type: one pass for the largest value, then short ones for its place and the sum.
#pragma once

#include "kernels/row_reduce/row_reduce.h"
#include "kernels/simd/exp_lanes.h"

namespace forerun {

// The largest value that is not NaN; -inf if there is none.
template <class Lanes>
inline float LargestOf(const float* x, int64_t columns) {
  const Lanes lowest = Lanes::Broadcast(-__builtin_inff());
  Lanes best[4] = {lowest, lowest, lowest, lowest};  // a maximum has no order: four chains hide its latency
  int64_t c = 0;
  for (; c + 64 <= columns; c += 64) {
    for (int i = 0; i < 4; ++i) best[i] = Larger(Lanes::Load(x + c + 16 * i), best[i]);
  }
  for (; c + 16 <= columns; c += 16) best[0] = Larger(Lanes::Load(x + c), best[0]);
  if (c < columns) {
    best[0] = Larger(Lanes::LoadFirst(x + c, static_cast<int>(columns - c), -__builtin_inff()), best[0]);
  }
  return Largest(Larger(Larger(best[0], best[1]), Larger(best[2], best[3])));
}

// The first place of `value`; -1 if nowhere.
template <class Lanes>
inline int64_t FirstPlaceOf(float value, const float* x, int64_t columns) {
  const Lanes wanted = Lanes::Broadcast(value);
  const int64_t whole = columns / 16 * 16;
  for (int64_t c = 0; c < whole; c += 16) {
    if (const uint32_t mask = EqualMask(Lanes::Load(x + c), wanted)) return c + __builtin_ctz(mask);
  }
  for (int64_t c = whole; c < columns; ++c) {
    if (x[c] == value) return c;
  }
  return -1;
}

template <class Lanes>
inline double SumOfExp(float largest, const float* x, int64_t columns) {
  const Lanes shift = Lanes::Broadcast(largest);
  const int64_t whole = columns / 16 * 16;
  auto sum = Widen(Lanes::Broadcast(0));
  for (int64_t c = 0; c < whole; c += 16) sum = sum + Widen(ExpLanes(Lanes::Load(x + c) - shift));
  if (whole < columns) {
    const int rest = static_cast<int>(columns - whole);
    sum = sum + Widen(ExpLanes(Lanes::LoadFirst(x + whole, rest, -__builtin_inff()) - shift));
  }
  return Sum(sum);
}

template <class Lanes>
void RowReduceLanes(const RowReduceArgs& args, WorkRange rows) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* const x = args.x + row * args.stride;
    const float largest = LargestOf<Lanes>(x, args.columns);
    const bool finite = largest - largest == 0;
    int64_t place = 0;
    if (args.argmax != nullptr || !finite) place = FirstPlaceOf<Lanes>(largest, x, args.columns);
    if (place < 0) place = 0;  // all are NaN
    if (args.argmax != nullptr) args.argmax[row] = static_cast<int32_t>(place);
    if (args.log_sum_exp == nullptr) continue;
    args.log_sum_exp[row] = finite ? largest + __builtin_log(SumOfExp<Lanes>(largest, x, args.columns))
                                   : static_cast<double>(x[place]);
  }
}

}  // namespace forerun
