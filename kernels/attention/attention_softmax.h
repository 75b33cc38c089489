// The softmax of one chunk for one (row, head) pair, and the merging of a chunk for neighbouring pairs, over
// a Lanes type.
#pragma once

#include <cstdint>

#include "kernels/simd/exp_lanes.h"

namespace forerun {

// Turns scores[begin, end) into e, and gives the chunk's m and l. The rest of the first and last 16 get score
// -inf, hence e = 0, which leaves l as it is.
template <class Lanes>
inline void ChunkSoftmax(float* scores, int begin, int end, float* m, float* l) {
  const int first = begin / 16 * 16, last = (end + 15) / 16 * 16;
  for (int j = first; j < begin; ++j) scores[j] = -__builtin_inff();
  for (int j = end; j < last; ++j) scores[j] = -__builtin_inff();
  Lanes best = Lanes::Broadcast(-__builtin_inff());
  for (int j = first; j < last; j += 16) best = Larger(Lanes::Load(scores + j), best);
  *m = Largest(best);
  Lanes sum = Lanes::Broadcast(0);
  for (int j = first; j < last; j += 16) {
    const Lanes e = ExpLanes(Lanes::Load(scores + j) - Lanes::Broadcast(*m));
    e.Store(scores + j);
    sum = sum + e;
  }
  *l = Sum(sum);
}

// chunk_m, chunk_l, m, l: [pairs]; o of the chunk, and total of the chunks so far: [pairs][head_size].
template <class Lanes>
inline void MergeChunk(int pairs, const float* chunk_m, const float* chunk_l, const float* o,
                       int64_t head_size, float* m, float* l, float* total) {
  for (int first = 0; first < pairs; first += 16) {
    const int count = pairs - first < 16 ? pairs - first : 16;
    const Lanes this_m = Lanes::LoadFirst(chunk_m + first, count, 0);
    const Lanes old_m = Lanes::LoadFirst(m + first, count, 0);
    const Lanes new_m = Larger(this_m, old_m);
    const Lanes w = ExpLanes(this_m - new_m), old_w = ExpLanes(old_m - new_m);
    Fma(Lanes::LoadFirst(chunk_l + first, count, 0), w, Lanes::LoadFirst(l + first, count, 0) * old_w)
        .StoreFirst(l + first, count);
    new_m.StoreFirst(m + first, count);
    float weights[16], old_weights[16];
    w.Store(weights);
    old_w.Store(old_weights);
    for (int i = 0; i < count; ++i) {
      const Lanes weight = Lanes::Broadcast(weights[i]), old_weight = Lanes::Broadcast(old_weights[i]);
      const int64_t begin = (first + i) * head_size;
      for (int64_t d = begin; d < begin + head_size; d += 16) {
        Fma(Lanes::Load(o + d), weight, Lanes::Load(total + d) * old_weight).Store(total + d);
      }
    }
  }
}

}  // namespace forerun
