// Four vectors of eight columns make a block; amax and the two sums are the only horizontal steps.
#include <immintrin.h>

#include "kernels/quantize_rows/quantize_rows.h"

namespace forerun {
namespace {

float HorizontalMax(__m256 v) {
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

int32_t HorizontalSum(__m256i v) {
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  s = _mm_add_epi32(s, _mm_unpackhi_epi64(s, s));
  return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 1)));
}

void QuantizeBlock(const float* x, int8_t* codes, float* scale, int32_t* sums) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  __m256 v[4];
  __m256 largest = _mm256_setzero_ps();
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm256_loadu_ps(x + 8 * i);
    largest = _mm256_max_ps(_mm256_andnot_ps(sign, v[i]), largest);
  }
  const float amax = HorizontalMax(largest);
  const float inverse = 127.0f / amax;
  const bool zero = inverse == __builtin_inff();
  *scale = zero ? 0.0f : amax / 127.0f;
  if (zero) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes), _mm256_setzero_si256());
    sums[0] = sums[1] = 0;
    return;
  }
  __m256i q[4];
  for (int i = 0; i < 4; ++i) q[i] = _mm256_cvtps_epi32(_mm256_mul_ps(v[i], _mm256_set1_ps(inverse)));
  sums[0] = HorizontalSum(_mm256_add_epi32(q[0], q[1]));
  sums[1] = HorizontalSum(_mm256_add_epi32(q[2], q[3]));
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // the packs work within halves
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes), _mm256_permutevar8x32_epi32(bytes, order));
}

}  // namespace

void QuantizeRowsAvx2(const QuantizeRowsArgs& args, WorkRange range, Lane&) {
  const int64_t stride = (args.stride > 0 ? args.stride : args.columns) / kActivationBlock;
  for (int64_t row = range.begin; row < range.end; ++row) {
    for (int64_t block = row * stride; block < row * stride + args.columns / kActivationBlock; ++block) {
      QuantizeBlock(args.x + block * kActivationBlock, args.codes + block * kActivationBlock,
                    args.scales + block, args.sums + 2 * block);
    }
  }
}

}  // namespace forerun
