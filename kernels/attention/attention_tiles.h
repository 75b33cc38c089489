// The two inner loops of attention over a Lanes type: several (row, head) pairs and two vectors at once, so
// that a key or value is converted once for all of them, a broadcast serves two fmas, and enough independent
// fma chains run to hide the latency of each.
#pragma once

#include <cstdint>

#include "kernels/attention/attention_unit.h"

namespace forerun {

// Pairs in one register tile: two accumulators each, and two operands beside them.
// Fewer under the address sanitizer, with which the others take a compiler many minutes.
#ifdef __SANITIZE_ADDRESS__
template <class Lanes>
inline constexpr int kTilePairs = 4;
#else
template <class Lanes>
inline constexpr int kTilePairs = Lanes::kRegisterTile >= 8 ? 14 : 6;
#endif
// Vectors at once: one where the registers do not hold two for each pair.
template <class Lanes, int kPairs>
inline constexpr int kTileVectors = Lanes::kRegisterTile >= 8 || kPairs <= 3 ? 2 : 1;

// Keys or values of neighbouring blocks, as many as one step through the context takes.
inline constexpr int kStepBlocks = 8;
inline constexpr int kStepTokens = kStepBlocks * kBlockTokens;
template <class Element>
struct BlockRun {
  const Element* blocks[kStepBlocks] = {};
};

// Into the second-level cache: what the first can wait for at a time limits a core to 14 GB/s over blocks
// this scattered.
template <class Element>
[[gnu::always_inline]] inline void Fetch(const Element* p) {
  __builtin_prefetch(p, 0, 2);
}

// work(Index<0>), work(Index<1>), ... written out, so that arrays of accumulators become registers: compilers
// settle that before they unroll loops.
template <int kIndex>
struct Index {
  [[gnu::always_inline]] constexpr operator int() const { return kIndex; }
};
template <int kCount, class Work>
[[gnu::always_inline]] inline void Unrolled(const Work& work) {
  if constexpr (kCount > 0) {
    Unrolled<kCount - 1>(work);
    work(Index<kCount - 1>());
  }
}
template <int kPairs, int kVectors, class Work>
[[gnu::always_inline]] inline void ForEachSum(const Work& work) {
  Unrolled<kPairs>([&](auto i) __attribute__((always_inline)) {
    Unrolled<kVectors>([&](auto v) __attribute__((always_inline)) { work(i, v); });
  });
}

// scores[i][0..16 * kVectors) = (q[i] . key of each token) * scale. q: [head_size][kPairs]; keys, a block:
// [head_size][16 tokens]; scores: [kPairs][kScoreStride]. Fetches as much of `next`.
template <int kPairs, int kVectors, class Lanes, class Element>
[[gnu::noinline]] void ScoreTile(const float* q, const Element* const* keys, const Element* const* next,
                                 int64_t head_size, float scale, float* scores) {
  constexpr int kLine = 64 / sizeof(Element);
  const Element *block[kVectors], *next_block[kVectors];
  Unrolled<kVectors>([&](auto v)
                         __attribute__((always_inline)) { block[v] = keys[v], next_block[v] = next[v]; });
  Lanes sums[kPairs][kVectors], key[kVectors];
  ForEachSum<kPairs, kVectors>([&](auto i, auto v)
                                   __attribute__((always_inline)) { sums[i][v] = Lanes::Broadcast(0); });
  constexpr int kUnroll = 2;  // divides the head size; two rows of half floats are a cache line
  for (int64_t first = 0; first < head_size; first += kUnroll) {
    Unrolled<kUnroll>([&](auto step) __attribute__((always_inline)) {
      const int64_t d = first + step;
      Unrolled<kVectors>([&](auto v) __attribute__((always_inline)) {
        if constexpr (step * kBlockTokens % kLine == 0) Fetch(next_block[v] + d * kBlockTokens);
        key[v] = Lanes::Load(block[v] + d * kBlockTokens);
      });
      ForEachSum<kPairs, kVectors>([&](auto i, auto v) __attribute__((always_inline)) {
        sums[i][v] = FmaBroadcast(q + d * kPairs + i, key[v], sums[i][v]);
      });
    });
  }
  ForEachSum<kPairs, kVectors>([&](auto i, auto v) __attribute__((always_inline)) {
    (sums[i][v] * Lanes::Broadcast(scale)).Store(scores + i * kScoreStride + v * kBlockTokens);
  });
}

// o[i][0..16 * kVectors) = fma chain of weights[i][t] * values[t] over t in [0, tokens), 16 in each block.
// weights: [kPairs][kScoreStride]; values, a block: [16 tokens][head_size]; o: [kPairs][head_size]. Fetches
// as much of `next`.
template <int kPairs, int kVectors, class Lanes, class Element>
[[gnu::noinline]] void ValueTile(const float* weights, const BlockRun<Element>& values,
                                 const BlockRun<Element>& next, int tokens, int64_t d, int64_t head_size,
                                 float* o) {
  constexpr int kLine = 64 / sizeof(Element);
  Lanes sums[kPairs][kVectors], value[kVectors];
  ForEachSum<kPairs, kVectors>([&](auto i, auto v) __attribute__((always_inline)) {
    sums[i][v] = Lanes::Load(o + i * head_size + d + v * 16);
  });
  for (int first = 0; first < tokens; first += kBlockTokens) {
    const Element* value_row = values.blocks[first / kBlockTokens] + d;
    const Element* next_row = next.blocks[first / kBlockTokens] + d;
    const int end = tokens < first + kBlockTokens ? tokens : first + kBlockTokens;
    for (int t = first; t < end; ++t, value_row += head_size, next_row += head_size) {
      for (int ahead = 0; ahead < 16 * kVectors; ahead += kLine) Fetch(next_row + ahead);
      Unrolled<kVectors>([&](auto v)
                             __attribute__((always_inline)) { value[v] = Lanes::Load(value_row + v * 16); });
      ForEachSum<kPairs, kVectors>([&](auto i, auto v) __attribute__((always_inline)) {
        sums[i][v] = FmaBroadcast(weights + i * kScoreStride + t, value[v], sums[i][v]);
      });
    }
  }
  ForEachSum<kPairs, kVectors>([&](auto i, auto v) __attribute__((always_inline)) {
    sums[i][v].Store(o + i * head_size + d + v * 16);
  });
}

// The same for `pairs` <= kPairs, up to kStepBlocks blocks, and any head size.
template <int kPairs, class Lanes, class Element>
inline void ScoreBlocks(int pairs, const float* q, const BlockRun<Element>& keys,
                        const BlockRun<Element>& next, int blocks, int64_t head_size, float scale,
                        float* scores) {
  if constexpr (kPairs > 1) {
    if (pairs < kPairs) {
      ScoreBlocks<kPairs - 1, Lanes>(pairs, q, keys, next, blocks, head_size, scale, scores);
      return;
    }
  }
  constexpr int kVectors = kTileVectors<Lanes, kPairs>;
  int b = 0;
  for (; b + kVectors <= blocks; b += kVectors) {
    ScoreTile<kPairs, kVectors, Lanes, Element>(q, keys.blocks + b, next.blocks + b, head_size, scale,
                                                scores + b * kBlockTokens);
  }
  if (b < blocks) {
    ScoreTile<kPairs, 1, Lanes, Element>(q, keys.blocks + b, next.blocks + b, head_size, scale,
                                         scores + b * kBlockTokens);
  }
}

template <int kPairs, class Lanes, class Element>
inline void AddBlocks(int pairs, const float* weights, const BlockRun<Element>& values,
                      const BlockRun<Element>& next, int tokens, int64_t head_size, float* o) {
  if constexpr (kPairs > 1) {
    if (pairs < kPairs) {
      AddBlocks<kPairs - 1, Lanes>(pairs, weights, values, next, tokens, head_size, o);
      return;
    }
  }
  constexpr int kVectors = kTileVectors<Lanes, kPairs>;
  int64_t d = 0;
  for (; d + 16 * kVectors <= head_size; d += 16 * kVectors) {
    ValueTile<kPairs, kVectors, Lanes, Element>(weights, values, next, tokens, d, head_size, o);
  }
  if (d < head_size) {
    ValueTile<kPairs, 1, Lanes, Element>(weights, values, next, tokens, d, head_size, o);
  }
}

// Near-even tiles of at most kTilePairs.
template <class Lanes>
inline int EvenTile(int pairs) {
  const int tiles = (pairs + kTilePairs<Lanes> - 1) / kTilePairs<Lanes>;
  return (pairs + tiles - 1) / tiles;
}

}  // namespace forerun
