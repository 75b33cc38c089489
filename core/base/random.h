// Every random number is a function of a key, so that any run replays, any two runs pair, and the number of
// threads changes nothing. Counter-based: a 64-bit mix (SplitMix64 finaliser) chained over the key's fields.
#pragma once

#include <cstdint>

namespace forerun {

enum class Purpose : uint32_t { kTarget, kDraft, kAccept, kResidual, kBonus, kOther };

// Target draws of plain sampling and `exact_match`: {seed, request, position of the drawn token, 0, kTarget}.
// All other draws: {seed, request, committed length at the start of the round, node, purpose}: a coin is
// never used in two rounds, which would bias the rules that keep several tokens on one coin.
struct RandomKey {
  uint64_t seed = 0;
  uint64_t request = 0;
  uint64_t place = 0;  // position or committed length
  uint64_t node = 0;
  Purpose purpose = Purpose::kOther;
  friend bool operator==(const RandomKey&, const RandomKey&) = default;
};

uint64_t RandomBits(const RandomKey& key, uint64_t index = 0);
// In [0, 1), 53 bits.
double Uniform(const RandomKey& key, uint64_t index = 0);
// -log of a uniform in (0, 1]: the clock of an exponential race. Basic IEEE arithmetic only (its own
// logarithm), so that every machine agrees to the bit.
double Exponential(const RandomKey& key, uint64_t index = 0);

// -log(u) for u in (0, 1], relative error below 1e-12; exactly 0 at 1.
double NegativeLog(double u);

// The numbers of one key, for many indices: the key is hashed once, each index costs one mix.
class RandomStream {
 public:
  explicit RandomStream(const RandomKey& key);
  uint64_t Bits(uint64_t index) const { return Mix(state_ + (index + 1) * kStride); }
  double Uniform(uint64_t index) const { return static_cast<double>(Bits(index) >> 11) * kUnit; }
  // In (0, 1]: the uniform whose NegativeLog is Exponential.
  double PositiveUniform(uint64_t index) const {
    return static_cast<double>((Bits(index) >> 11) + 1) * kUnit;
  }

 private:
  static constexpr uint64_t kStride = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, odd
  static constexpr double kUnit = 0x1p-53;
  // The finaliser of SplitMix64 (Steele, Lea, Flood 2014; constants by Stafford): a bijection of 64 bits.
  static constexpr uint64_t Mix(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
  }
  uint64_t state_;
};

}  // namespace forerun
