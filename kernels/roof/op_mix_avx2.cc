// Eight outputs a register; bytes are multiplied into 16-bit sums, which are widened once a sub-block.
#include <immintrin.h>

#include <cstring>

#include "kernels/roof/op_mix_simd.h"

namespace forerun {
namespace avx2 {
namespace {

struct MixOps {
  static constexpr int kLanes = 8;
  using Ints = __m256i;
  using Floats = __m256;

  static Ints LoadCodes(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static Floats Load(const float* p) { return _mm256_loadu_ps(p); }
  static void Store(float* p, Floats v) { _mm256_storeu_ps(p, v); }
  static Floats Zero() { return _mm256_setzero_ps(); }
  static Floats Broadcast(const float& x) { return _mm256_broadcast_ss(&x); }
  static Floats Negate(Floats v) { return _mm256_xor_ps(v, _mm256_set1_ps(-0.0f)); }
  static Floats FromInts(Ints v) { return _mm256_cvtepi32_ps(v); }
  static Floats Mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats Fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }

  // The empty asm keeps GCC from re-associating the sums, as in vector_avx2.h.
  template <int count>
  static Ints Dot(const Ints* w, const int8_t* x) {
    Ints sum = Product(w[0], x);
#pragma GCC unroll 8
    for (int k = 1; k < count; ++k) {
      sum = _mm256_add_epi16(sum, Product(w[k], x + 4 * k));
      __asm__("" : "+x"(sum));
    }
    return _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
  }

 private:
  static Ints Product(Ints w, const int8_t* x) {
    int32_t four;
    std::memcpy(&four, x, 4);
    return _mm256_maddubs_epi16(w, _mm256_set1_epi32(four));
  }
};

}  // namespace
}  // namespace avx2

void OpMixAvx2(const OpMixArgs& args, WorkRange range, Lane&) { OpMix<avx2::MixOps>(args, range); }
void FmaMixAvx2(const FmaMixArgs& args, WorkRange range, Lane&) { FmaMix<avx2::MixOps>(args, range); }

}  // namespace forerun
