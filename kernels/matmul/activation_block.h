// A row's share of 32 columns, as the inner loop of the a8 product reads it: all at constant offsets from one
// pointer. For any Vector type, as packed_decode.h.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "kernels/matmul/packed_decode.h"

namespace forerun {

template <class V, TensorType kType>
struct ActivationBlock {
  using P = Packed<V, kType>;
  static constexpr int kSubs = P::kSubs;
  static constexpr int kOffset = P::kLayout.offset;
  static constexpr bool kCut = P::kBits == 8 && !V::kDotsBytes;
  // Taken off every code as the sum of products starts. Without vpdpbusd products are added in 16 bits,
  // two columns a lane, and the complete sum must fit: |code - center| * 127 * columns / 2 < 32768. On the
  // way there it may wrap.
  static constexpr int kCenter = V::kDotsBytes ? kOffset : P::kBits >= 5 && !kCut ? 1 << (P::kBits - 1) : 0;
  static constexpr bool kHasRest = kCenter != kOffset;
  // Where each kind of per-sub-block number is in `extra`.
  static constexpr int kStart = 0;                             // -center * sum of q, by 16-bit lane or whole
  static constexpr int kRest = kCenter != 0 ? kSubs : 0;       // (center - offset) * qsum
  static constexpr int kMin = kRest + (kHasRest ? kSubs : 0);  // d * qsum, a float
  static constexpr int kExtras = kMin + (P::kLayout.has_min ? kSubs : 0);

  int8_t codes[32];
  float d;
  int32_t extra[kExtras];

  void Set(const int8_t* row_codes, float scale, const int32_t sums[2]) {
    std::memcpy(codes, row_codes, 32);
    d = scale;
    for (int i = 0; i < kSubs; ++i) {
      const int32_t qsum = kSubs == 2 ? sums[i] : sums[0] + sums[1];
      if constexpr (kCenter != 0) extra[kStart + i] = V::kDotsBytes ? -kCenter * qsum : LaneStart(i);
      if constexpr (kHasRest) extra[kRest + i] = (kCenter - kOffset) * qsum;
      if constexpr (P::kLayout.has_min) {
        const float d_qsum = d * static_cast<float>(qsum);
        std::memcpy(&extra[kMin + i], &d_qsum, 4);
      }
    }
  }
  float DQsum(int sub) const {
    float value;
    std::memcpy(&value, &extra[kMin + sub], 4);
    return value;
  }

 private:
  // Two 16-bit numbers: -center times the sum of columns 0, 1 and of columns 2, 3 of each k-group.
  int32_t LaneStart(int sub) const {
    const __m128i ones = _mm_set1_epi8(1);
    const int8_t* from = codes + sub * (32 / kSubs);
    __m128i pairs = _mm_maddubs_epi16(ones, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    if constexpr (kSubs == 1) {
      const __m128i more = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16));
      pairs = _mm_add_epi16(pairs, _mm_maddubs_epi16(ones, more));
    }
    pairs = _mm_add_epi16(pairs, _mm_unpackhi_epi64(pairs, pairs));
    pairs = _mm_add_epi16(pairs, _mm_shuffle_epi32(pairs, 1));
    return _mm_cvtsi128_si32(_mm_mullo_epi16(pairs, _mm_set1_epi16(-kCenter)));
  }
};

}  // namespace forerun
