// exact_weights.h over a Lanes and its DoubleLanes type.
#pragma once

#include "kernels/exact_weights/exact_weights.h"
#include "kernels/simd/exp64_lanes.h"

namespace forerun {

// At temperature 1 the division changes nothing, and takes half of the time.
template <class DoubleLanes, bool kDivides>
inline DoubleLanes WeightLanes(DoubleLanes x, const ExactWeightsArgs& args) {
  x = x - DoubleLanes::Broadcast(args.largest);
  if constexpr (kDivides) x = x / DoubleLanes::Broadcast(args.temperature);
  return Exp64Lanes(x);
}

template <class Lanes, class DoubleLanes, bool kDivides>
void WeighRow(const ExactWeightsArgs& args) {
  const int64_t whole = args.columns / 16 * 16;
  for (int64_t c = 0; c < whole; c += 16)
    WeightLanes<DoubleLanes, kDivides>(Widen(Lanes::Load(args.x + c)), args).Store(args.weights + c);
  if (whole == args.columns) return;
  const int rest = static_cast<int>(args.columns - whole);
  double weights[16];
  WeightLanes<DoubleLanes, kDivides>(Widen(Lanes::LoadFirst(args.x + whole, rest, 0)), args).Store(weights);
  for (int i = 0; i < rest; ++i) args.weights[whole + i] = weights[i];
}

template <class Lanes, class DoubleLanes>
void ExactWeightsLanes(const ExactWeightsArgs& args) {
  args.temperature == 1 ? WeighRow<Lanes, DoubleLanes, false>(args)
                        : WeighRow<Lanes, DoubleLanes, true>(args);
}

}  // namespace forerun
