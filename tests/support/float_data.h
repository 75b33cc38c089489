// Random floats for kernel tests, and comparison by bits.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace forerun {

inline std::vector<float> RandomFloats(uint32_t seed, std::size_t count, float low = -1, float high = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

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
