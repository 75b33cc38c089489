// Exp64 over a DoubleLanes type (double_lanes_avx2.h, double_lanes_avx512.h): operation by operation what
// exp64.cc does.
#pragma once

#include "kernels/simd/exp64.h"

namespace forerun {

template <class DoubleLanes>
inline DoubleLanes Exp64Lanes(DoubleLanes x) {
  using namespace exp64_constants;
  const auto all = DoubleLanes::Broadcast;
  const DoubleLanes rounded = Fma(x, all(kLog2E), all(kRound));
  const DoubleLanes n = rounded - all(kRound);
  const DoubleLanes r = Fma(n, all(-kLn2Low), Fma(n, all(-kLn2High), x));
  DoubleLanes p = all(kTaylor[0]);
  for (int k = 1; k <= kDegree; ++k) p = Fma(p, r, all(kTaylor[k]));
  // Not less than just below the limit, so that a NaN falls to 0.
  return IfLess(all(__builtin_nextafter(kZeroBelow, -1e9)), x, p * PowerOfTwo(rounded), all(0));
}

}  // namespace forerun
