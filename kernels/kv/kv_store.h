// Writes the keys and values of a forward's rows into their slots (f16: rounded to nearest even), and copies
// a slot onto another, all layers of one shape: what keeping a tree's accepted path needs.
#pragma once

#include <cstdint>

#include "kernels/kv/kv_block.h"
#include "kernels/variants.h"

namespace forerun {

struct KvStoreArgs {
  KvLayerView layer;
  const float* keys = nullptr;    // [rows, row_stride]: kv_heads * head_size values; null: keys stay
  const float* values = nullptr;  // [rows, row_stride]; null: values stay
  int64_t row_stride = 0;
  const KvSlot* slots = nullptr;  // [rows]
  int first_head = 0;             // KV heads [first_head, first_head + heads)
  int heads = 0;                  // 0: all
};

// Unit: one row.
void KvStoreReference(const KvStoreArgs&, WorkRange, Lane&);
void KvStoreAvx2(const KvStoreArgs&, WorkRange, Lane&);
inline constexpr Variants<KvStoreArgs> kKvStore{KvStoreReference, KvStoreAvx2};

// Bytes of slot `from` to slot `to`, for one layer.
void KvCopySlot(const KvLayerView& layer, KvSlot from, KvSlot to);

}  // namespace forerun
