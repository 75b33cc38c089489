#include "kernels/cases/attention_case.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "kernels/formats/tensor_type.h"
#include "kernels/kv/kv_store.h"

namespace forerun {

AttentionCase::AttentionCase(const AttentionShape& shape, uint32_t seed)
    : shape_(shape), seed_(seed), layer_{shape.dtype, shape.kv_heads, shape.head_size, 192} {}

std::vector<std::byte*> AttentionCase::MakeBlocks(int tokens) {
  std::vector<std::byte*> blocks;
  const std::size_t bytes = layer_.offset + layer_.bytes();
  for (int from = 0; from < tokens; from += kBlockTokens) {
    memory_.push_back(std::make_unique<std::byte[]>(bytes));
    std::memset(memory_.back().get(), 0xff, bytes);  // NaN in both types
    blocks.push_back(memory_.back().get());
  }
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(seed_));
  return blocks;
}

KvSlot AttentionCase::Slot(const std::vector<std::byte*>& blocks, int position) {
  return {blocks[position / kBlockTokens], position % kBlockTokens};
}

void AttentionCase::Put(KvSlot slot, uint32_t token) {
  const std::vector<float> key = Key(token), value = Value(token);
  Lane lane;
  KvStoreReference({layer_, key.data(), value.data(), 0, &slot}, {0, 1}, lane);
}

int AttentionCase::AddRow(uint32_t token, const std::vector<std::byte*>& blocks, int prefix,
                          std::vector<KvSlot> tail) {
  tails_.push_back(std::move(tail));
  rows_.push_back({blocks.data(), prefix, tails_.back().data(), static_cast<int32_t>(tails_.back().size())});
  const std::vector<float> query = Query(token);
  q_.insert(q_.end(), query.begin(), query.end());
  return static_cast<int>(rows_.size()) - 1;
}

std::vector<AttentionTile> AttentionCase::Tiles(int tile_rows) const {
  std::vector<AttentionTile> tiles;
  for (int row = 0; row < static_cast<int>(rows_.size()); ++row) {
    if (row > 0 && rows_[row].blocks == rows_[row - 1].blocks && tiles.back().rows < tile_rows) {
      ++tiles.back().rows;
    } else {
      tiles.push_back({row, 1});
    }
  }
  return tiles;
}

AttentionArgs AttentionCase::Args(const std::vector<AttentionTile>& tiles, std::vector<float>& y) const {
  AttentionArgs args;
  args.layer = layer_;
  args.heads = shape_.heads();
  args.scale = scale();
  args.window = shape_.window;
  args.q = q_.data();
  args.q_stride = static_cast<int64_t>(shape_.heads()) * shape_.head_size;
  args.rows = rows_.data();
  args.tiles = tiles.data();
  y.assign(rows_.size() * args.q_stride, -77.0f);
  args.y = y.data();
  return args;
}

std::vector<float> AttentionCase::Numbers(uint32_t token, uint32_t purpose, int count, float spread) const {
  uint64_t state = (static_cast<uint64_t>(seed_) << 40) + (static_cast<uint64_t>(token) << 8) + purpose;
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's linear congruence
    const uint64_t mixed = (state ^ state >> 31) * 0x9e3779b97f4a7c15u;
    number = spread * (static_cast<float>(mixed >> 40) * 0x1p-23f - 1.0f);
  }
  return numbers;
}

std::vector<float> AttentionCase::AsStored(std::vector<float> numbers) const {
  if (shape_.dtype == KvDtype::kF32) return numbers;
  for (float& number : numbers) number = HalfToFloat(FloatToHalf(number));
  return numbers;
}

std::vector<float> AttentionCase::Query(uint32_t token) const {
  return Numbers(token, 0, shape_.heads() * shape_.head_size, shape_.spread);
}
std::vector<float> AttentionCase::Key(uint32_t token) const {
  return AsStored(Numbers(token, 1, shape_.kv_heads * shape_.head_size, 1));
}
std::vector<float> AttentionCase::Value(uint32_t token) const {
  return AsStored(Numbers(token, 2, shape_.kv_heads * shape_.head_size, 1));
}

}  // namespace forerun
