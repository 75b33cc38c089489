// Sixteen floats as one AVX-512 register. Kernel bodies are templates over a Lanes type: this, or
// lanes_avx2.h's.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace forerun::avx512 {

inline __m256 LowHalf(__m512 v) { return _mm512_castps512_ps256(v); }
inline __m256 HighHalf(__m512 v) { return _mm512_extractf32x8_ps(v, 1); }

struct Lanes {
  static constexpr int kRegisterTile = 8;  // accumulators that fit in registers beside their operands

  __m512 v;

  static Lanes Broadcast(float x) { return {_mm512_set1_ps(x)}; }
  static Lanes Load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static Lanes Load(const uint16_t* half) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(half)))};
  }
  // p[0..count), count <= 16; the other lanes are `fill`. Reads no more than that.
  static Lanes LoadFirst(const float* p, int count, float fill) {
    return {_mm512_mask_loadu_ps(_mm512_set1_ps(fill), FirstMask(count), p)};
  }
  void Store(float* p) const { _mm512_storeu_ps(p, v); }
  void StoreFirst(float* p, int count) const { _mm512_mask_storeu_ps(p, FirstMask(count), v); }

  static __mmask16 FirstMask(int count) { return static_cast<__mmask16>((1u << count) - 1); }
};

inline Lanes operator+(Lanes a, Lanes b) { return {_mm512_add_ps(a.v, b.v)}; }
inline Lanes operator-(Lanes a, Lanes b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline Lanes operator*(Lanes a, Lanes b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline Lanes operator/(Lanes a, Lanes b) { return {_mm512_div_ps(a.v, b.v)}; }
inline Lanes Fma(Lanes a, Lanes b, Lanes c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
// The same for a = Broadcast(*x). In assembly, because compilers put a broadcast that is used twice into a
// register, and a load of its own keeps the pipes busy that half floats are converted on (Zen 4: 26.5 cycles
// instead of 24 for 24 of these and 2 conversions).
inline Lanes FmaBroadcast(const float* x, Lanes b, Lanes c) {
  asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(c.v) : "v"(b.v), "m"(*x));
  return c;
}
// x > best ? x : best, so a NaN in x is passed over.
inline Lanes Larger(Lanes x, Lanes best) { return {_mm512_max_ps(x.v, best.v)}; }
// x < y ? yes : no; a NaN is not less.
inline Lanes IfLess(Lanes x, Lanes y, Lanes yes, Lanes no) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(x.v, y.v, _CMP_LT_OQ), no.v, yes.v)};
}
// Bit j: lane j of a equals lane j of b.
inline uint32_t EqualMask(Lanes a, Lanes b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ); }
// 2^n of the integer n in the low bits of `rounded` (exp.h: kRound).
inline Lanes PowerOfTwo(Lanes rounded) {
  const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(rounded.v), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(exponent, _mm512_set1_epi32(0x3f800000)))};
}

// Lanes added 8+8, 4+4, 2+2, 1+1.
inline float Sum(Lanes a) {
  const __m256 eight = _mm256_add_ps(LowHalf(a.v), HighHalf(a.v));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float Largest(Lanes a) {
  const __m256 eight = _mm256_max_ps(LowHalf(a.v), HighHalf(a.v));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

}  // namespace forerun::avx512
