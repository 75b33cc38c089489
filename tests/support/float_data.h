// Comparison of floats by bits, and the random ones that kernels are tested on.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <span>

#include "kernels/cases/floats.h"

namespace forerun {

// Any NaN equals any other: which operand's payload survives is the compiler's choice.
inline bool SameBits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (a != a && b != b);
}

inline testing::AssertionResult SameBits(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return testing::AssertionFailure() << a.size() << " values against " << b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!SameBits(a[i], b[i])) {
      return testing::AssertionFailure() << "[" << i << "]: " << std::hexfloat << a[i] << " against " << b[i];
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace forerun
