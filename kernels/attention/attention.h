// Attention of each row over its own context in a paged KV: a committed prefix, then (in a token tree) its
// ancestors and itself. Decode, prefill, chain and tree are this one operation.
//
// Numerics (f32; a row's result depends on its context alone, in position order, never on slots or on other
// rows):
//   score[j] = (q . k[j]) * scale            one fma chain over the head's values in order
//   Positions are cut at multiples of kAttentionChunk (absolute positions). Per chunk, over visible
//   positions:
//     m = max score;  e[j] = Exp(score[j] - m);  l = sum of e in 16 lanes (lane = (j - chunk start) mod 16,
//     each lane in order of j), lanes added 8+8, 4+4, 2+2, 1+1;  o = fma chain of e[j] * v[j] in order of j
//   Chunks are merged in order, from M = -inf, L = 0, O = 0: M' = max(M, m); w = Exp(m - M'); W = Exp(M -
//   M');
//     L = fma(l, w, L * W); O = fma(o, w, O * W); M = M'. Finally y = O / L. Chunks with nothing visible are
//     left out.
// So chunks can be worked on in any order and by anyone, as long as they are merged in theirs.
//
// What helped (Zen 4, AVX-512, one core, context 2,048; share of the f32 fma ceiling with one row / 8 rows,
// of the 1.5B shape: 12 heads, 2 KV heads, head size 128; and of SmolLM2's: 9, 3, 64):
//   8 pairs a tile, one vector each, prefetch of the next block    51 / 75 %   29 / 67 %
//   12-14 pairs, two vectors: a broadcast serves two fmas          56 / 76     34 / 71
//   accumulators written out, no loops: GCC kept them on the stack otherwise (from 20-50 % to the above)
//   broadcasts as memory operands (lanes_avx512.h: FmaBroadcast), values of 64 tokens a call: in cache
//     69 -> 83 / 76 -> 84 %; from memory                           55 / 84     38 / 78
//   prefetch into the second-level cache                           78 / 86     64 / 80
//   steps of 8 blocks instead of 4                                 83 / -      69 / -
// What did not: steps of 2 blocks (57, 34 %) or 8 (54, 33 %) with the prefetch into the first-level cache;
// none at all is worst (42, 22 %). Above 85 % the rest is softmax: 7 % of the fmas' time at head size 128, 15
// % at 64.
#pragma once

#include <cstdint>

#include "kernels/kv/kv_block.h"
#include "kernels/variants.h"

namespace forerun {

inline constexpr int kAttentionChunk = 256;

struct AttentionRow {
  const std::byte* const* blocks =
      nullptr;                   // the sequence's blocks: position p is blocks[p / 16], offset p % 16
  int32_t prefix = 0;            // positions [0, prefix) are read through `blocks`
  const KvSlot* tail = nullptr;  // positions [prefix, prefix + tail_count): ancestors, then the row itself
  int32_t tail_count = 0;
};

// Consecutive rows with the same `blocks`, so that a block is read once for all of them.
struct AttentionTile {
  int32_t first_row = 0;
  int32_t rows = 0;  // 1..kAttentionTileRows
};
inline constexpr int kAttentionTileRows = 16;

// How the work of one (tile, KV head) is cut into units. No choice changes a bit of the result.
struct AttentionSplit {
  int32_t parts = 1;       // of the context, at chunk borders; more than one needs `partials` and the merge
  int32_t head_parts = 1;  // of the KV head's group of heads
  int32_t chunks = 0;      // at least those of every tile's context: how workspaces are laid out
  int32_t tile_rows = 0;   // at least those of every tile
};

struct AttentionArgs {
  KvLayerView layer;
  int heads = 0;  // a multiple of layer.kv_heads; head h reads KV head h / (heads / kv_heads)
  float scale = 1;
  int32_t window = 0;        // a row at position p sees positions > p - window; 0: all
  const float* q = nullptr;  // [rows, q_stride]
  int64_t q_stride = 0;
  float* y = nullptr;                    // [rows, heads * head_size]
  const AttentionRow* rows = nullptr;    // [rows]
  const AttentionTile* tiles = nullptr;  // [tiles]
  AttentionSplit split;
  float* partials = nullptr;  // split.parts > 1: AttentionPartialFloats floats
  float* scores = nullptr;    // attention_unfused.h alone: AttentionScoreFloats floats
};

// Enough units for `threads` threads that may not be equally fast, but no smaller than worth their while.
// The args need layer, heads, window, rows and tiles.
AttentionSplit ChooseAttentionSplit(const AttentionArgs& args, int64_t tiles, int threads);
int64_t AttentionPartialFloats(const AttentionArgs& args, int64_t tiles);  // 0 without parts

// Unit u: part u % parts of head part u / parts % head_parts of KV head u / parts / head_parts % kv_heads of
// a tile. head_size: a multiple of 16. Writes y or, where the split has parts, `partials`.
inline int64_t AttentionUnits(const AttentionArgs& args, int64_t tiles) {
  return tiles * args.layer.kv_heads * args.split.head_parts * args.split.parts;
}
void AttentionReference(const AttentionArgs&, WorkRange, Lane&);
void AttentionAvx2(const AttentionArgs&, WorkRange, Lane&);
void AttentionAvx512(const AttentionArgs&, WorkRange, Lane&);
inline constexpr Variants<AttentionArgs> kAttention{AttentionReference, AttentionAvx2, AttentionAvx512};

// `partials` to y. To be run after all units of attention if the split has parts. Unit: as above, without
// parts.
inline int64_t AttentionMergeUnits(const AttentionArgs& args, int64_t tiles) {
  return tiles * args.layer.kv_heads * args.split.head_parts;
}
void AttentionMergeReference(const AttentionArgs&, WorkRange, Lane&);
void AttentionMergeAvx2(const AttentionArgs&, WorkRange, Lane&);
void AttentionMergeAvx512(const AttentionArgs&, WorkRange, Lane&);
inline constexpr Variants<AttentionArgs> kAttentionMerge{AttentionMergeReference, AttentionMergeAvx2,
                                                         AttentionMergeAvx512};

}  // namespace forerun
