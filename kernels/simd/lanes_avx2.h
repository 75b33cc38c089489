// Sixteen floats as two AVX2 registers. Kernel bodies are templates over a Lanes type: this, or
// lanes_avx512.h's.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace forerun::avx2 {

// Sixteen ones then sixteen zeros: loading from kFirst + 16 - count gives the mask of the first `count`
// lanes.
alignas(64) inline constexpr int32_t kFirst[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                   -1, -1, -1, -1, -1, 0,  0,  0,  0,  0,  0,
                                                   0,  0,  0,  0,  0,  0,  0,  0,  0,  0};

struct Lanes {
  static constexpr int kRegisterTile = 6;  // accumulators that fit in registers beside their operands

  __m256 low, high;

  static Lanes Broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static Lanes Load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static Lanes Load(const uint16_t* half) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(half))),
            _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(half + 8)))};
  }
  // p[0..count), count <= 16; the other lanes are `fill`. Reads no more than that.
  static Lanes LoadFirst(const float* p, int count, float fill) {
    const __m256i low = FirstMask(count, 0), high = FirstMask(count, 8);
    const __m256 other = _mm256_set1_ps(fill);
    return {_mm256_blendv_ps(other, _mm256_maskload_ps(p, low), _mm256_castsi256_ps(low)),
            _mm256_blendv_ps(other, _mm256_maskload_ps(p + 8, high), _mm256_castsi256_ps(high))};
  }
  void Store(float* p) const {
    _mm256_storeu_ps(p, low);
    _mm256_storeu_ps(p + 8, high);
  }
  void StoreFirst(float* p, int count) const {
    _mm256_maskstore_ps(p, FirstMask(count, 0), low);
    _mm256_maskstore_ps(p + 8, FirstMask(count, 8), high);
  }

  static __m256i FirstMask(int count, int from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kFirst + 16 - count + from));
  }
};

inline Lanes operator+(Lanes a, Lanes b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
inline Lanes operator-(Lanes a, Lanes b) {
  return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
inline Lanes operator*(Lanes a, Lanes b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
inline Lanes operator/(Lanes a, Lanes b) {
  return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}
inline Lanes Fma(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
// The same for a = Broadcast(*x).
inline Lanes FmaBroadcast(const float* x, Lanes b, Lanes c) { return Fma(Lanes::Broadcast(*x), b, c); }
// x > best ? x : best, so a NaN in x is passed over.
inline Lanes Larger(Lanes x, Lanes best) {
  return {_mm256_max_ps(x.low, best.low), _mm256_max_ps(x.high, best.high)};
}
// x < y ? yes : no; a NaN is not less.
inline Lanes IfLess(Lanes x, Lanes y, Lanes yes, Lanes no) {
  return {_mm256_blendv_ps(no.low, yes.low, _mm256_cmp_ps(x.low, y.low, _CMP_LT_OQ)),
          _mm256_blendv_ps(no.high, yes.high, _mm256_cmp_ps(x.high, y.high, _CMP_LT_OQ))};
}
// Bit j: lane j of a equals lane j of b.
inline uint32_t EqualMask(Lanes a, Lanes b) {
  const uint32_t low = _mm256_movemask_ps(_mm256_cmp_ps(a.low, b.low, _CMP_EQ_OQ));
  const uint32_t high = _mm256_movemask_ps(_mm256_cmp_ps(a.high, b.high, _CMP_EQ_OQ));
  return low | high << 8;
}
inline __m256 PowerOfTwo(__m256 rounded) {
  const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(rounded), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(exponent, _mm256_set1_epi32(0x3f800000)));
}
// 2^n of the integer n in the low bits of `rounded` (exp.h: kRound).
inline Lanes PowerOfTwo(Lanes rounded) { return {PowerOfTwo(rounded.low), PowerOfTwo(rounded.high)}; }

// Lanes added 8+8, 4+4, 2+2, 1+1.
inline float Sum(Lanes a) {
  const __m256 eight = _mm256_add_ps(a.low, a.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float Largest(Lanes a) {
  const __m256 eight = _mm256_max_ps(a.low, a.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

}  // namespace forerun::avx2
