// Exp over a Lanes type (lanes_avx2.h, lanes_avx512.h): operation by operation what exp.cc does.
#pragma once

#include "kernels/simd/exp.h"

namespace forerun {

template <class Lanes>
inline Lanes ExpLanes(Lanes x) {
  using namespace exp_constants;
  const Lanes round = Lanes::Broadcast(kRound);
  const Lanes one = Lanes::Broadcast(1.0f);
  const Lanes rounded = Fma(x, Lanes::Broadcast(kLog2E), round);
  const Lanes n = rounded - round;
  const Lanes r = Fma(n, Lanes::Broadcast(-kLn2Low), Fma(n, Lanes::Broadcast(-kLn2High), x));
  Lanes p = Fma(Lanes::Broadcast(kC6), r, Lanes::Broadcast(kC5));
  p = Fma(p, r, Lanes::Broadcast(kC4));
  p = Fma(p, r, Lanes::Broadcast(kC3));
  p = Fma(p, r, Lanes::Broadcast(kC2));
  p = Fma(p, r, one);
  p = Fma(p, r, one);
  const Lanes value = p * PowerOfTwo(rounded);
  const Lanes low = IfLess(x, Lanes::Broadcast(kZeroBelow), Lanes::Broadcast(0.0f), value);
  return IfLess(Lanes::Broadcast(kInfinityAbove), x, Lanes::Broadcast(__builtin_inff()), low);
}

}  // namespace forerun
