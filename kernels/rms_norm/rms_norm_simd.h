// rms_norm.h over a Lanes type.
#pragma once

#include "kernels/rms_norm/rms_norm.h"

namespace forerun {

template <class Lanes>
void RmsNormLanes(const RmsNormArgs& args, WorkRange rows) {
  const int64_t whole = args.columns / 16 * 16;
  const int rest = static_cast<int>(args.columns - whole);
  const int64_t stride = args.stride > 0 ? args.stride : args.columns;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* const x = args.x + row * stride;
    float* const y = args.y + row * stride;
    Lanes squares = Lanes::Broadcast(0);
    for (int64_t c = 0; c < whole; c += 16) {
      const Lanes values = Lanes::Load(x + c);
      squares = Fma(values, values, squares);
    }
    if (rest > 0) {
      const Lanes values = Lanes::LoadFirst(x + whole, rest, 0);
      squares = Fma(values, values, squares);
    }
    const float mean = Sum(squares) / static_cast<float>(args.columns);
    const Lanes inverse = Lanes::Broadcast(1.0f / __builtin_sqrtf(mean + args.epsilon));
    for (int64_t c = 0; c < whole; c += 16) {
      ((Lanes::Load(x + c) * inverse) * Lanes::Load(args.gain + c)).Store(y + c);
    }
    if (rest > 0) {
      const Lanes gain = Lanes::LoadFirst(args.gain + whole, rest, 0);
      ((Lanes::LoadFirst(x + whole, rest, 0) * inverse) * gain).StoreFirst(y + whole, rest);
    }
  }
}

}  // namespace forerun
