// The definition of Exp, one value at a time; exp_lanes.h does the same operations in vectors.
#include "kernels/simd/exp.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace forerun {

float Exp(float x) {
  using namespace exp_constants;
  if (x < kZeroBelow) return 0;
  if (x > kInfinityAbove) return std::numeric_limits<float>::infinity();
  if (x != x) return x;
  const float rounded = std::fma(x, kLog2E, kRound);
  const float n = rounded - kRound;
  const float r = std::fma(n, -kLn2Low, std::fma(n, -kLn2High, x));
  float p = std::fma(kC6, r, kC5);
  p = std::fma(p, r, kC4);
  p = std::fma(p, r, kC3);
  p = std::fma(p, r, kC2);
  p = std::fma(p, r, 1.0f);
  p = std::fma(p, r, 1.0f);
  return p * std::bit_cast<float>((std::bit_cast<uint32_t>(rounded) << 23) + 0x3f800000u);
}

}  // namespace forerun
