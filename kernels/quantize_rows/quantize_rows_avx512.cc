// Two vectors of sixteen columns make a block, and each has one of the two sums.
#include <immintrin.h>

#include "kernels/quantize_rows/quantize_rows.h"

namespace forerun {
namespace {

void QuantizeBlock(const float* x, int8_t* codes, float* scale, int32_t* sums) {
  const __m512 low = _mm512_loadu_ps(x);
  const __m512 high = _mm512_loadu_ps(x + 16);
  const __m512 zeros = _mm512_setzero_ps();
  const __m512 largest = _mm512_max_ps(_mm512_abs_ps(high), _mm512_max_ps(_mm512_abs_ps(low), zeros));
  const float amax = _mm512_reduce_max_ps(largest);
  const float inverse = 127.0f / amax;
  const bool zero = inverse == __builtin_inff();
  *scale = zero ? 0.0f : amax / 127.0f;
  const __mmask16 keep = zero ? 0 : 0xffff;
  const __m512 factor = _mm512_set1_ps(inverse);
  const __m512i first = _mm512_maskz_cvtps_epi32(keep, _mm512_mul_ps(low, factor));
  const __m512i second = _mm512_maskz_cvtps_epi32(keep, _mm512_mul_ps(high, factor));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(codes), _mm512_cvtsepi32_epi8(first));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + 16), _mm512_cvtsepi32_epi8(second));
  sums[0] = _mm512_reduce_add_epi32(first);
  sums[1] = _mm512_reduce_add_epi32(second);
}

}  // namespace

void QuantizeRowsAvx512(const QuantizeRowsArgs& args, WorkRange range, Lane&) {
  const int64_t stride = (args.stride > 0 ? args.stride : args.columns) / kActivationBlock;
  for (int64_t row = range.begin; row < range.end; ++row) {
    for (int64_t block = row * stride; block < row * stride + args.columns / kActivationBlock; ++block) {
      QuantizeBlock(args.x + block * kActivationBlock, args.codes + block * kActivationBlock,
                    args.scales + block, args.sums + 2 * block);
    }
  }
}

}  // namespace forerun
