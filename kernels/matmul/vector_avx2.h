// Half a k-group vector (8 outputs x 4 columns) as one AVX2 register. The kernels are templates over a Vector
// type; vector_avx512.h has the others.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace forerun::avx2 {

struct Vector {
  static constexpr int kLanes = 8;
  static constexpr int kHalves = 2;
  static constexpr bool kDotsBytes = false;  // codes of more than 7 bits are cut into nibbles
  static constexpr int kFixedRows = 3;       // row counts with a kernel of their own, sums in registers
  using Bytes = __m256i;
  using Ints = __m256i;
  using Floats = __m256;

  static Bytes Load(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  // Bits [from, from + bits) of each byte, moved to bit `to`.
  template <int from, int to, int bits>
  static Bytes Field(Bytes v) {
    if constexpr (from > to) v = _mm256_srli_epi16(v, from - to);
    if constexpr (from < to) v = _mm256_slli_epi16(v, to - from);
    return _mm256_and_si256(v, _mm256_set1_epi8(static_cast<char>(((1 << bits) - 1) << to)));
  }
  template <int from, int to, int bits>
  static Bytes FieldOr(Bytes v, Bytes other) {
    return _mm256_or_si256(Field<from, to, bits>(v), other);
  }

  static Floats Zero() { return _mm256_setzero_ps(); }
  static Floats LoadFloats(const float* p) { return _mm256_loadu_ps(p); }
  static void StoreFloats(float* p, Floats v) { _mm256_storeu_ps(p, v); }
  static Floats Broadcast(float x) { return _mm256_set1_ps(x); }
  static Floats LoadHalves(const std::byte* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static Floats LoadBFloats(const std::byte* p) {
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
  static Floats FromUnsigned(const uint8_t* p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static Floats FromSigned(const uint8_t* p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static Floats FromInts(Ints v) { return _mm256_cvtepi32_ps(v); }
  static Floats Negate(Floats v) { return _mm256_xor_ps(v, _mm256_set1_ps(-0.0f)); }
  static Floats Mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats Add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats Fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }

  static Ints BroadcastInt(int32_t x) { return _mm256_set1_epi32(x); }
  static Ints AddInts(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  // Column c of the k-group, one output a lane.
  template <int c>
  static Ints Column(Bytes v) {
    if constexpr (c == 3) return _mm256_srli_epi32(v, 24);
    return _mm256_and_si256(_mm256_srli_epi32(v, 8 * c), _mm256_set1_epi32(255));
  }

  // The dot products of `count` k-groups with 4 * count activations. They are added in 16-bit lanes, on top
  // of `start` (ActivationBlock), and widened once. The empty asm keeps GCC from re-associating the sums,
  // which makes it spill the products.
  template <int count>
  static Ints Dot(Ints start, const Bytes* w, const int8_t* activations) {
#pragma GCC unroll 8
    for (int k = 0; k < count; ++k) {
      start = _mm256_add_epi16(start, Product(w[k], activations + 4 * k));
      __asm__("" : "+x"(start));
    }
    return _mm256_madd_epi16(start, _mm256_set1_epi16(1));
  }
  template <int count>
  static Ints Dot(const Bytes* w, const int8_t* activations) {
    __m256i sum = Product(w[0], activations);
#pragma GCC unroll 8
    for (int k = 1; k < count; ++k) {
      sum = _mm256_add_epi16(sum, Product(w[k], activations + 4 * k));
      __asm__("" : "+x"(sum));
    }
    return _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
  }
  static Ints ShiftLeft4(Ints v) { return _mm256_slli_epi32(v, 4); }

  template <bool kOneRow>
  static void Prefetch(const std::byte* p) {
    _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T1);
  }

 private:
  static __m256i Product(Bytes w, const int8_t* activations) {
    int32_t a;
    std::memcpy(&a, activations, 4);
    return _mm256_maddubs_epi16(w, _mm256_set1_epi32(a));
  }
};

}  // namespace forerun::avx2
