// Sixteen doubles as four AVX2 registers, beside the sixteen floats of lanes_avx2.h.
#pragma once

#include <immintrin.h>

#include "kernels/simd/lanes_avx2.h"

namespace forerun::avx2 {

// v[i] holds lanes 4i to 4i + 3.
struct DoubleLanes {
  __m256d v[4];

  static DoubleLanes Broadcast(double x) {
    const __m256d all = _mm256_set1_pd(x);
    return {{all, all, all, all}};
  }
  void Store(double* p) const {
    for (int i = 0; i < 4; ++i) _mm256_storeu_pd(p + 4 * i, v[i]);
  }
};

inline DoubleLanes Widen(Lanes a) {
  return {{_mm256_cvtps_pd(_mm256_castps256_ps128(a.low)), _mm256_cvtps_pd(_mm256_extractf128_ps(a.low, 1)),
           _mm256_cvtps_pd(_mm256_castps256_ps128(a.high)),
           _mm256_cvtps_pd(_mm256_extractf128_ps(a.high, 1))}};
}

// op(a.v[i], ...) of every register.
template <class Op, class... More>
inline DoubleLanes EachRegister(Op op, const More&... operands) {
  return {{op(operands.v[0]...), op(operands.v[1]...), op(operands.v[2]...), op(operands.v[3]...)}};
}

inline DoubleLanes operator+(DoubleLanes a, DoubleLanes b) {
  return EachRegister([](__m256d x, __m256d y) { return _mm256_add_pd(x, y); }, a, b);
}
inline DoubleLanes operator-(DoubleLanes a, DoubleLanes b) {
  return EachRegister([](__m256d x, __m256d y) { return _mm256_sub_pd(x, y); }, a, b);
}
inline DoubleLanes operator*(DoubleLanes a, DoubleLanes b) {
  return EachRegister([](__m256d x, __m256d y) { return _mm256_mul_pd(x, y); }, a, b);
}
inline DoubleLanes operator/(DoubleLanes a, DoubleLanes b) {
  return EachRegister([](__m256d x, __m256d y) { return _mm256_div_pd(x, y); }, a, b);
}
inline DoubleLanes Fma(DoubleLanes a, DoubleLanes b, DoubleLanes c) {
  return EachRegister([](__m256d x, __m256d y, __m256d z) { return _mm256_fmadd_pd(x, y, z); }, a, b, c);
}
// x < y ? yes : no; a NaN is not less.
inline DoubleLanes IfLess(DoubleLanes x, DoubleLanes y, DoubleLanes yes, DoubleLanes no) {
  return EachRegister(
      [](__m256d a, __m256d b, __m256d then, __m256d otherwise) {
        return _mm256_blendv_pd(otherwise, then, _mm256_cmp_pd(a, b, _CMP_LT_OQ));
      },
      x, y, yes, no);
}
// 2^n of the integer n in the low bits of `rounded` (exp64.h: kRound).
inline DoubleLanes PowerOfTwo(DoubleLanes rounded) {
  return EachRegister(
      [](__m256d x) {
        const __m256i exponent = _mm256_slli_epi64(_mm256_castpd_si256(x), 52);
        return _mm256_castsi256_pd(_mm256_add_epi64(exponent, _mm256_set1_epi64x(0x3ff0000000000000)));
      },
      rounded);
}

// Lanes added 8+8, 4+4, 2+2, 1+1.
inline double Sum(DoubleLanes a) {
  const __m256d four = _mm256_add_pd(_mm256_add_pd(a.v[0], a.v[2]), _mm256_add_pd(a.v[1], a.v[3]));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

}  // namespace forerun::avx2
