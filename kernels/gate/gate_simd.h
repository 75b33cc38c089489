// gate.h over a Lanes type.
#pragma once

#include "kernels/gate/gate.h"
#include "kernels/simd/exp_lanes.h"

namespace forerun {

template <class Lanes>
inline Lanes SiluLanes(Lanes g) {
  return g / (Lanes::Broadcast(1.0f) + ExpLanes(Lanes::Broadcast(0.0f) - g));
}

template <class Lanes>
inline Lanes GeluTanhLanes(Lanes g) {
  const Lanes one = Lanes::Broadcast(1.0f);
  const Lanes u = (Lanes::Broadcast(0.7978845608f) * g) * (one + (Lanes::Broadcast(0.044715f) * g) * g);
  return g / (one + ExpLanes(Lanes::Broadcast(-2.0f) * u));
}

template <class Lanes, class Activate>
void GateArray(const GateArgs& args, int64_t begin, int64_t end, Activate activate) {
  int64_t i = begin;
  for (; i + 16 <= end; i += 16) {
    (activate(Lanes::Load(args.gate + i)) * Lanes::Load(args.up + i)).Store(args.y + i);
  }
  if (i == end) return;
  const int rest = static_cast<int>(end - i);
  const Lanes gate = Lanes::LoadFirst(args.gate + i, rest, 0);
  (activate(gate) * Lanes::LoadFirst(args.up + i, rest, 0)).StoreFirst(args.y + i, rest);
}

template <class Lanes>
void GateLanes(const GateArgs& args, WorkRange rows) {
  const int64_t stride = args.stride > 0 ? args.stride : args.columns;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t begin = row * stride, end = begin + args.columns;
    if (args.activation == Activation::kSilu) {
      GateArray<Lanes>(args, begin, end, [](Lanes g) { return SiluLanes(g); });
    } else {
      GateArray<Lanes>(args, begin, end, [](Lanes g) { return GeluTanhLanes(g); });
    }
  }
}

}  // namespace forerun
