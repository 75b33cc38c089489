// Sixteen outputs a register, with or without VNNI.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace forerun::avx512 {

template <bool kVnni>
struct MixOps {
  static constexpr int kLanes = 16;
  using Ints = __m512i;
  using Floats = __m512;

  static Ints LoadCodes(const uint8_t* p) { return _mm512_loadu_si512(p); }
  static Floats Load(const float* p) { return _mm512_loadu_ps(p); }
  static void Store(float* p, Floats v) { _mm512_storeu_ps(p, v); }
  static Floats Zero() { return _mm512_setzero_ps(); }
  static Floats Broadcast(float x) { return _mm512_set1_ps(x); }
  static Floats Negate(Floats v) { return _mm512_xor_ps(v, _mm512_set1_ps(-0.0f)); }
  static Floats FromInts(Ints v) { return _mm512_cvtepi32_ps(v); }
  static Floats Mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats Fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }

  template <int count>
  static Ints Dot(const Ints* w, const int8_t* x) {
    Ints sum = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k) {
      int32_t four;
      std::memcpy(&four, x + 4 * k, 4);
      if constexpr (kVnni) {
        sum = _mm512_dpbusd_epi32(sum, w[k], _mm512_set1_epi32(four));
      } else {
        sum = _mm512_add_epi16(sum, _mm512_maddubs_epi16(w[k], _mm512_set1_epi32(four)));
        __asm__("" : "+v"(sum));
      }
    }
    return kVnni ? sum : _mm512_madd_epi16(sum, _mm512_set1_epi16(1));
  }
};

}  // namespace forerun::avx512
