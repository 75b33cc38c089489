// softmax_weights.h over a Lanes type.
#pragma once

#include "kernels/simd/exp_lanes.h"
#include "kernels/softmax_weights/softmax_weights.h"

namespace forerun {

template <class Lanes>
inline Lanes WeightLanes(Lanes x, Lanes largest, Lanes temperature) {
  const Lanes known = Larger(x, Lanes::Broadcast(-__builtin_inff()));  // a NaN is passed over
  return ExpLanes((known - largest) / temperature);
}

template <class Lanes>
void SoftmaxWeightsLanes(const SoftmaxWeightsArgs& args) {
  const Lanes largest = Lanes::Broadcast(args.largest), temperature = Lanes::Broadcast(args.temperature);
  const int64_t whole = args.columns / 16 * 16;
  auto sum = Widen(Lanes::Broadcast(0));
  for (int64_t c = 0; c < whole; c += 16) {
    const Lanes weights = WeightLanes(Lanes::Load(args.x + c), largest, temperature);
    weights.Store(args.weights + c);
    sum = sum + Widen(weights);
  }
  if (whole < args.columns) {
    const int rest = static_cast<int>(args.columns - whole);
    const Lanes x = Lanes::LoadFirst(args.x + whole, rest, -__builtin_inff());
    const Lanes weights = WeightLanes(x, largest, temperature);
    weights.StoreFirst(args.weights + whole, rest);
    sum = sum + Widen(weights);
  }
  *args.sum = Sum(sum);
}

// x >= floor exactly where the larger of the two is x.
template <class Lanes>
void AtLeastLanes(const AtLeastArgs& args) {
  const Lanes floor = Lanes::Broadcast(args.floor);
  int64_t count = 0;
  const int64_t whole = args.columns / 16 * 16;
  for (int64_t c = 0; c < whole; c += 16) {
    const Lanes x = Lanes::Load(args.x + c);
    for (uint32_t mask = EqualMask(Larger(x, floor), x); mask != 0; mask &= mask - 1)
      args.places[count++] = static_cast<int32_t>(c + __builtin_ctz(mask));
  }
  for (int64_t c = whole; c < args.columns; ++c) {
    if (args.x[c] >= args.floor) args.places[count++] = static_cast<int32_t>(c);
  }
  *args.count = count;
}

}  // namespace forerun
