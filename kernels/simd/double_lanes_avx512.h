// Sixteen doubles as two AVX-512 registers, beside the sixteen floats of lanes_avx512.h.
#pragma once

#include <immintrin.h>

#include "kernels/simd/lanes_avx512.h"

namespace forerun::avx512 {

struct DoubleLanes {
  __m512d low, high;

  static DoubleLanes Broadcast(double x) { return {_mm512_set1_pd(x), _mm512_set1_pd(x)}; }
  void Store(double* p) const {
    _mm512_storeu_pd(p, low);
    _mm512_storeu_pd(p + 8, high);
  }
};

inline DoubleLanes Widen(Lanes a) { return {_mm512_cvtps_pd(LowHalf(a.v)), _mm512_cvtps_pd(HighHalf(a.v))}; }

inline DoubleLanes operator+(DoubleLanes a, DoubleLanes b) {
  return {_mm512_add_pd(a.low, b.low), _mm512_add_pd(a.high, b.high)};
}
inline DoubleLanes operator-(DoubleLanes a, DoubleLanes b) {
  return {_mm512_sub_pd(a.low, b.low), _mm512_sub_pd(a.high, b.high)};
}
inline DoubleLanes operator*(DoubleLanes a, DoubleLanes b) {
  return {_mm512_mul_pd(a.low, b.low), _mm512_mul_pd(a.high, b.high)};
}
inline DoubleLanes operator/(DoubleLanes a, DoubleLanes b) {
  return {_mm512_div_pd(a.low, b.low), _mm512_div_pd(a.high, b.high)};
}
inline DoubleLanes Fma(DoubleLanes a, DoubleLanes b, DoubleLanes c) {
  return {_mm512_fmadd_pd(a.low, b.low, c.low), _mm512_fmadd_pd(a.high, b.high, c.high)};
}
// x < y ? yes : no; a NaN is not less.
inline DoubleLanes IfLess(DoubleLanes x, DoubleLanes y, DoubleLanes yes, DoubleLanes no) {
  return {_mm512_mask_blend_pd(_mm512_cmp_pd_mask(x.low, y.low, _CMP_LT_OQ), no.low, yes.low),
          _mm512_mask_blend_pd(_mm512_cmp_pd_mask(x.high, y.high, _CMP_LT_OQ), no.high, yes.high)};
}
inline __m512d PowerOfTwo(__m512d rounded) {
  const __m512i exponent = _mm512_slli_epi64(_mm512_castpd_si512(rounded), 52);
  return _mm512_castsi512_pd(_mm512_add_epi64(exponent, _mm512_set1_epi64(0x3ff0000000000000)));
}
// 2^n of the integer n in the low bits of `rounded` (exp64.h: kRound).
inline DoubleLanes PowerOfTwo(DoubleLanes rounded) {
  return {PowerOfTwo(rounded.low), PowerOfTwo(rounded.high)};
}

// Lanes added 8+8, 4+4, 2+2, 1+1.
inline double Sum(DoubleLanes a) {
  const __m512d eight = _mm512_add_pd(a.low, a.high);
  const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

}  // namespace forerun::avx512
