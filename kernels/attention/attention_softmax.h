// The softmax of one chunk and the merging of chunks, for one (row, head) pair over a Lanes type.
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

// o: [head_size], of the chunk; m, l and total, [head_size]: of the chunks so far.
template <class Lanes>
inline void MergeChunk(float chunk_m, float chunk_l, const float* o, int64_t head_size, float* m, float* l,
                       float* total) {
  const float larger = chunk_m > *m ? chunk_m : *m;
  const Lanes new_m = Lanes::Broadcast(larger);
  const Lanes w = ExpLanes(Lanes::Broadcast(chunk_m) - new_m);
  const Lanes old_w = ExpLanes(Lanes::Broadcast(*m) - new_m);
  Fma(Lanes::Broadcast(chunk_l), w, Lanes::Broadcast(*l) * old_w).StoreFirst(l, 1);
  for (int64_t d = 0; d < head_size; d += 16) {
    Fma(Lanes::Load(o + d), w, Lanes::Load(total + d) * old_w).Store(total + d);
  }
  *m = larger;
}

}  // namespace forerun
