// The key's fields are chained through the mix; indices then walk a SplitMix64 stream that starts there.
#include "core/base/random.h"

#include <bit>

#include "core/base/check.h"

namespace forerun {

RandomStream::RandomStream(const RandomKey& key) : state_(0) {
  const uint64_t fields[] = {key.seed, key.request, key.place, key.node, static_cast<uint64_t>(key.purpose)};
  for (const uint64_t field : fields) state_ = Mix((state_ ^ field) + kStride);
}

uint64_t RandomBits(const RandomKey& key, uint64_t index) { return RandomStream(key).Bits(index); }

double Uniform(const RandomKey& key, uint64_t index) { return RandomStream(key).Uniform(index); }

double Exponential(const RandomKey& key, uint64_t index) {
  return NegativeLog(RandomStream(key).PositiveUniform(index));
}

// u = m * 2^e with m in [sqrt(1/2), sqrt(2)), and log m = 2 atanh(s) with s =
// (m - 1) / (m + 1), |s| < 0.172: ten terms of the series leave less than
// 1e-16. Near u = 1 the exponent is 0 and m - 1 is exact, so nothing cancels.
double NegativeLog(double u) {
  FORERUN_CHECK(u >= 0x1p-1022 && u <= 1);
  constexpr double kSeries[] = {1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9,
                                1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
  constexpr uint64_t kSqrt2Mantissa = 0x6A09E667F3BCD;
  const uint64_t bits = std::bit_cast<uint64_t>(u);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  uint64_t biased = 1023;
  if ((bits & kMantissa) >= kSqrt2Mantissa) {
    exponent += 1;
    biased = 1022;
  }
  const double m = std::bit_cast<double>((biased << 52) | (bits & kMantissa));
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double series = 1.0 / 19;
  for (const double term : kSeries) series = series * z + term;
  return -exponent * kLn2 - 2 * s * series;
}

}  // namespace forerun
