#include "kernels/fused/attention_codes.h"

#include <atomic>

namespace forerun {
namespace {

void QuantizeHeads(const AttentionCodesArgs& args, int64_t merge_unit, Lane& lane) {
  const AttentionArgs& attention = args.attention;
  const int64_t group = attention.heads / attention.layer.kv_heads;
  const int64_t head_parts = attention.split.head_parts;
  const int64_t head_part = merge_unit % head_parts;
  const int64_t kv_head = merge_unit / head_parts % attention.layer.kv_heads;
  const AttentionTile& tile = attention.tiles[merge_unit / head_parts / attention.layer.kv_heads];
  const int64_t begin = kv_head * group + group * head_part / head_parts;
  const int64_t end = kv_head * group + group * (head_part + 1) / head_parts;
  const int64_t blocks = attention.layer.head_size / kActivationBlock;
  QuantizeInto(*args.kernels, attention.y, args.to, {tile.first_row, tile.first_row + tile.rows},
               {begin * blocks, end * blocks}, lane);
}

}  // namespace

void AttentionCodes(const AttentionCodesArgs& args, WorkRange units, Lane& lane) {
  const int64_t parts = args.attention.split.parts;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    args.kernels->attention(args.attention, {unit, unit + 1}, lane);
    const int64_t merge_unit = unit / parts;
    if (parts > 1) {
      std::atomic_ref<int32_t> arrived(args.arrivals[merge_unit]);
      if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < parts) continue;
      arrived.store(0, std::memory_order_relaxed);
      args.kernels->attention_merge(args.attention, {merge_unit, merge_unit + 1}, lane);
    }
    QuantizeHeads(args, merge_unit, lane);
  }
}

}  // namespace forerun
