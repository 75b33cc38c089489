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
};

// Unit: one (tile, KV head): unit u is tile u / kv_heads, KV head u % kv_heads. head_size: a multiple of 16.
void AttentionReference(const AttentionArgs&, WorkRange, Lane&);
void AttentionAvx2(const AttentionArgs&, WorkRange, Lane&);
void AttentionAvx512(const AttentionArgs&, WorkRange, Lane&);
inline constexpr Variants<AttentionArgs> kAttention{AttentionReference, AttentionAvx2, AttentionAvx512};

}  // namespace forerun
