// Halves: eight pairs at a time. Interleaved: four pairs in one register, partners swapped within it.
#include <immintrin.h>

#include "kernels/rope/rope.h"

namespace forerun {
namespace {

void Turn(float& a, float& b, float cosine, float sine) {
  const float turned_a = a * cosine - b * sine;
  b = a * sine + b * cosine;
  a = turned_a;
}

void TurnHalves(float* x, int half, const float* cosines, const float* sines) {
  int i = 0;
  for (; i + 8 <= half; i += 8) {
    const __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + half + i);
    const __m256 cosine = _mm256_loadu_ps(cosines + i), sine = _mm256_loadu_ps(sines + i);
    _mm256_storeu_ps(x + i, _mm256_sub_ps(_mm256_mul_ps(a, cosine), _mm256_mul_ps(b, sine)));
    _mm256_storeu_ps(x + half + i, _mm256_add_ps(_mm256_mul_ps(a, sine), _mm256_mul_ps(b, cosine)));
  }
  for (; i < half; ++i) Turn(x[i], x[half + i], cosines[i], sines[i]);
}

void TurnInterleaved(float* x, int half, const float* cosines, const float* sines) {
  const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
  int i = 0;
  for (; i + 4 <= half; i += 4) {
    const __m256 pairs = _mm256_loadu_ps(x + 2 * i);
    const __m256 swapped = _mm256_permute_ps(pairs, 0xb1);
    const __m256 cosine = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(cosines + i)), twice);
    const __m256 sine = _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(sines + i)), twice);
    // Subtracts in the even lanes (a), adds in the odd ones (b).
    _mm256_storeu_ps(x + 2 * i, _mm256_addsub_ps(_mm256_mul_ps(pairs, cosine), _mm256_mul_ps(swapped, sine)));
  }
  for (; i < half; ++i) Turn(x[2 * i], x[2 * i + 1], cosines[i], sines[i]);
}

}  // namespace

void RopeAvx2(const RopeArgs& args, WorkRange rows, Lane&) {
  const int half = args.rotary / 2;
  const auto turn = args.pairing == RopePairing::kInterleaved ? TurnInterleaved : TurnHalves;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t turns = static_cast<int64_t>(args.positions[row]) * half;
    for (int head = 0; head < args.heads; ++head) {
      float* const x = args.x + row * args.row_stride + static_cast<int64_t>(head) * args.head_size;
      turn(x, half, args.cosines + turns, args.sines + turns);
    }
  }
}

}  // namespace forerun
