// Contexts for attention. A token is a number: its query, key and value follow from it alone, so two places
// that hold the same token hold the same numbers. Slots that hold no token hold NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "kernels/attention/attention.h"

namespace forerun {

struct AttentionShape {
  KvDtype dtype = KvDtype::kF16;
  int kv_heads = 2;
  int group = 2;  // heads per KV head
  int head_size = 64;
  int32_t window = 0;
  float spread = 2;  // queries lie in [-spread, spread]: larger, sharper attention

  int heads() const { return kv_heads * group; }
};

class AttentionCase {
 public:
  AttentionCase(const AttentionShape& shape, uint32_t seed);

  // Blocks for `tokens` tokens, in no particular order in memory; slot of position p: Slot(blocks, p).
  std::vector<std::byte*> MakeBlocks(int tokens);
  static KvSlot Slot(const std::vector<std::byte*>& blocks, int position);
  void Put(KvSlot slot, uint32_t token);

  // A row asks with the query of `token`. `blocks` must outlive this.
  int AddRow(uint32_t token, const std::vector<std::byte*>& blocks, int prefix, std::vector<KvSlot> tail);
  AttentionRow& row(int index) { return rows_[index]; }

  // Tiles of at most `tile_rows` rows with the same blocks; args and tiles point into this and each other.
  std::vector<AttentionTile> Tiles(int tile_rows) const;
  AttentionArgs Args(const std::vector<AttentionTile>& tiles, std::vector<float>& y) const;

  // What token `token` stands for, keys and values as they read back from the KV.
  std::vector<float> Query(uint32_t token) const;  // [heads * head_size]
  std::vector<float> Key(uint32_t token) const;    // [kv_heads * head_size]
  std::vector<float> Value(uint32_t token) const;  // [kv_heads * head_size]
  const AttentionShape& shape() const { return shape_; }
  float scale() const { return 0.125f; }

 private:
  std::vector<float> Numbers(uint32_t token, uint32_t purpose, int count, float spread) const;
  std::vector<float> AsStored(std::vector<float> numbers) const;

  AttentionShape shape_;
  uint32_t seed_;
  KvLayerView layer_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<AttentionRow> rows_;
  std::deque<std::vector<KvSlot>> tails_;
  std::vector<float> q_;  // [rows, heads * head_size]
};

}  // namespace forerun
