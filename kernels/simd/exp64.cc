// The definition of Exp64, one value at a time; exp64_lanes.h does the same operations in vectors.
#include "kernels/simd/exp64.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace forerun {

double Exp64(double x) {
  using namespace exp64_constants;
  if (!(x >= kZeroBelow)) return 0;
  const double rounded = std::fma(x, kLog2E, kRound);
  const double n = rounded - kRound;
  const double r = std::fma(n, -kLn2Low, std::fma(n, -kLn2High, x));
  double p = kTaylor[0];
  for (int k = 1; k <= kDegree; ++k) p = std::fma(p, r, kTaylor[k]);
  return p * std::bit_cast<double>((std::bit_cast<uint64_t>(rounded) << 52) + 0x3ff0000000000000u);
}

}  // namespace forerun
