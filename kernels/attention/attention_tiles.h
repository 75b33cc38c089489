// The two inner loops of attention over a Lanes type: several (row, head) pairs at once, so that a key or
// value is loaded and converted once for all of them and enough independent fma chains run to hide the
// latency of each.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace forerun {

// scores[i][0..16) = (q[i] . key of each of the 16 tokens) * scale. q: [kCount] pointers to [head_size];
// keys: [head_size][16 tokens]; scores: [kCount][kAttentionChunk].
template <int kCount, class Lanes, class Element>
inline void ScoreTile(const float* const* q, const Element* keys, const Element* next, int head_size,
                      float scale, float* scores) {
  const float* queries[kCount];
  Lanes sums[kCount];
  for (int i = 0; i < kCount; ++i) {
    queries[i] = q[i];
    sums[i] = Lanes::Broadcast(0);
  }
  for (int64_t d = 0; d < head_size; ++d) {
    __builtin_prefetch(next + d * kBlockTokens);
    const Lanes key = Lanes::Load(keys + d * kBlockTokens);
    for (int i = 0; i < kCount; ++i) sums[i] = Fma(Lanes::Broadcast(queries[i][d]), key, sums[i]);
  }
  for (int i = 0; i < kCount; ++i) (sums[i] * Lanes::Broadcast(scale)).Store(scores + i * kAttentionChunk);
}

// o[i] = fma chain of weights[i][t] * values[t] over t in [0, tokens). weights: [kCount][kAttentionChunk];
// values: [tokens][head_size]; o: [kCount][head_size].
template <int kCount, class Lanes, class Element>
inline void ValueTile(const float* weights, const Element* values, const Element* next, int tokens,
                      int head_size, float* o) {
  for (int64_t d = 0; d < head_size; d += 16) {
    Lanes sums[kCount];
    for (int i = 0; i < kCount; ++i) sums[i] = Lanes::Load(o + i * static_cast<int64_t>(head_size) + d);
    for (int64_t t = 0; t < tokens; ++t) {
      __builtin_prefetch(next + t * head_size + d);
      const Lanes value = Lanes::Load(values + t * head_size + d);
      for (int i = 0; i < kCount; ++i) {
        sums[i] = Fma(Lanes::Broadcast(weights[i * kAttentionChunk + t]), value, sums[i]);
      }
    }
    for (int i = 0; i < kCount; ++i) sums[i].Store(o + i * static_cast<int64_t>(head_size) + d);
  }
}

// The same for any number of pairs: near-even tiles of at most Lanes::kRegisterTile.
template <int kCount, class Lanes, class Element>
inline void ScoreTileOf(int count, const float* const* q, const Element* keys, const Element* next,
                        int head_size, float scale, float* scores) {
  if (count == kCount) {
    ScoreTile<kCount, Lanes>(q, keys, next, head_size, scale, scores);
  } else if constexpr (kCount > 1) {
    ScoreTileOf<kCount - 1, Lanes>(count, q, keys, next, head_size, scale, scores);
  }
}

template <int kCount, class Lanes, class Element>
inline void ValueTileOf(int count, const float* weights, const Element* values, const Element* next,
                        int tokens, int head_size, float* o) {
  if (count == kCount) {
    ValueTile<kCount, Lanes>(weights, values, next, tokens, head_size, o);
  } else if constexpr (kCount > 1) {
    ValueTileOf<kCount - 1, Lanes>(count, weights, values, next, tokens, head_size, o);
  }
}

template <class Lanes>
inline int EvenTile(int pairs) {
  const int tiles = (pairs + Lanes::kRegisterTile - 1) / Lanes::kRegisterTile;
  return tiles == 0 ? 1 : (pairs + tiles - 1) / tiles;
}

template <class Lanes, class Element>
inline void ScorePairs(int pairs, const float* const* q, const Element* keys, const Element* next,
                       int head_size, float scale, float* scores) {
  const int step = EvenTile<Lanes>(pairs);
  for (int first = 0; first < pairs; first += step) {
    const int count = step < pairs - first ? step : pairs - first;
    ScoreTileOf<Lanes::kRegisterTile, Lanes>(count, q + first, keys, next, head_size, scale,
                                             scores + first * kAttentionChunk);
  }
}

template <class Lanes, class Element>
inline void AddValues(int pairs, const float* weights, const Element* values, const Element* next, int tokens,
                      int head_size, float* o) {
  const int step = EvenTile<Lanes>(pairs);
  for (int first = 0; first < pairs; first += step) {
    const int count = step < pairs - first ? step : pairs - first;
    ValueTileOf<Lanes::kRegisterTile, Lanes>(count, weights + first * kAttentionChunk, values, next, tokens,
                                             head_size, o + static_cast<int64_t>(first) * head_size);
  }
}

}  // namespace forerun
