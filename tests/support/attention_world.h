// Attention cases, run in every way that attention can be cut into units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "kernels/attention/attention_unfused.h"
#include "kernels/cases/attention_case.h"
#include "kernels/isa.h"

namespace forerun {

// The ways to compute attention on one instruction set.
struct AttentionKernels {
  explicit AttentionKernels(Isa isa)
      : attention(kAttention.For(isa)),
        merge(kAttentionMerge.For(isa)),
        scores(kAttentionScores.For(isa)),
        softmax(kAttentionSoftmax.For(isa)),
        values(kAttentionValues.For(isa)) {}

  KernelFn<AttentionArgs> attention, merge, scores, softmax, values;
};

// A case that kernels can be run on.
class AttentionWorld : public AttentionCase {
 public:
  using AttentionCase::AttentionCase;

  // y: [rows, heads * head_size]. Tiles of at most `tile_rows` rows with the same blocks; units in one range
  // or, if `split`, one by one and backwards.
  std::vector<float> Run(KernelFn<AttentionArgs> fn, int tile_rows, bool split = false);

  // The same, in parts (attention.h), and in one pass or, `unfused`, in three. Counts a failure if a kernel
  // writes past its workspace.
  std::vector<float> RunInParts(const AttentionKernels& kernels, int tile_rows, int parts, int head_parts,
                                bool unfused);
};

// A random tree over a common prefix: a row of `world` for each node. Tokens of the prefix are their
// positions.
struct AttentionTree {
  std::deque<std::vector<std::byte*>> blocks;
  std::vector<std::vector<uint32_t>> paths;  // [nodes]: the tokens of its path below the prefix, itself last
  std::vector<std::vector<KvSlot>> slots;    // [nodes]: where they lie

  AttentionTree(AttentionWorld& world, std::mt19937& random, int prefix, int nodes);
};

}  // namespace forerun
