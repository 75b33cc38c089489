// A k-group vector (16 outputs x 4 columns) as one AVX-512 register, with or without VNNI; see vector_avx2.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace forerun::avx512 {

template <bool kVnni>
struct Vector {
  static constexpr int kLanes = 16;
  static constexpr int kHalves = 1;
  static constexpr bool kDotsBytes = kVnni;
  static constexpr int kFixedRows = 4;
  using Bytes = __m512i;
  using Ints = __m512i;
  using Floats = __m512;

  static Bytes Load(const std::byte* p) { return _mm512_loadu_si512(p); }
  template <int from, int to, int bits>
  static Bytes Field(Bytes v) {
    return _mm512_and_si512(Shift<from, to>(v), FieldMask<to, bits>());
  }
  template <int from, int to, int bits>
  static Bytes FieldOr(Bytes v, Bytes other) {
    const Bytes moved = Shift<from, to>(v), mask = FieldMask<to, bits>();
    return _mm512_ternarylogic_epi32(moved, mask, other, 0xea);  // (a & b) | c
  }

  static Floats Zero() { return _mm512_setzero_ps(); }
  static Floats LoadFloats(const float* p) { return _mm512_loadu_ps(p); }
  static void StoreFloats(float* p, Floats v) { _mm512_storeu_ps(p, v); }
  static Floats Broadcast(float x) { return _mm512_set1_ps(x); }
  static Floats LoadHalves(const std::byte* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static Floats LoadBFloats(const std::byte* p) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
  static Floats FromUnsigned(const uint8_t* p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static Floats FromSigned(const uint8_t* p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static Floats FromInts(Ints v) { return _mm512_cvtepi32_ps(v); }
  static Floats Negate(Floats v) { return _mm512_xor_ps(v, _mm512_set1_ps(-0.0f)); }
  static Floats Mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats Add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats Fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }

  static Ints BroadcastInt(int32_t x) { return _mm512_set1_epi32(x); }
  static Ints AddInts(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  template <int c>
  static Ints Column(Bytes v) {
    if constexpr (c == 3) return _mm512_srli_epi32(v, 24);
    return _mm512_and_si512(_mm512_srli_epi32(v, 8 * c), _mm512_set1_epi32(255));
  }

  template <int count>
  static Ints Dot(Ints start, const Bytes* w, const int8_t* activations) {
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k) start = AddProduct(start, w[k], activations + 4 * k);
    return kVnni ? start : _mm512_madd_epi16(start, _mm512_set1_epi16(1));
  }
  template <int count>
  static Ints Dot(const Bytes* w, const int8_t* activations) {
    return Dot<count>(_mm512_setzero_si512(), w, activations);
  }
  static Ints ShiftLeft4(Ints v) { return _mm512_slli_epi32(v, 4); }

  // One row asks for memory faster than the second-level cache takes prefetches.
  template <bool kOneRow>
  static void Prefetch(const std::byte* p) {
    _mm_prefetch(reinterpret_cast<const char*>(p), kOneRow ? _MM_HINT_T0 : _MM_HINT_T1);
  }

 private:
  static Ints AddProduct(Ints sum, Bytes w, const int8_t* activations) {
    int32_t a;
    std::memcpy(&a, activations, 4);
    if constexpr (kVnni) return _mm512_dpbusd_epi32(sum, w, _mm512_set1_epi32(a));
    sum = _mm512_add_epi16(sum, _mm512_maddubs_epi16(w, _mm512_set1_epi32(a)));
    __asm__("" : "+v"(sum));
    return sum;
  }
  template <int from, int to>
  static Bytes Shift(Bytes v) {
    if constexpr (from > to) return _mm512_srli_epi16(v, from - to);
    if constexpr (from < to) return _mm512_slli_epi16(v, to - from);
    return v;
  }
  template <int to, int bits>
  static Bytes FieldMask() {
    return _mm512_set1_epi8(static_cast<char>(((1 << bits) - 1) << to));
  }
};

}  // namespace forerun::avx512
