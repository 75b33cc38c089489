// attention.h over a Lanes type. A unit's pairs (row, head of the group) go through the context together,
// chunk by chunk: scores of every block, softmax, values of every block, merge. So a block is read once for
// all pairs.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_softmax.h"
#include "kernels/attention/attention_tiles.h"

namespace forerun {

struct PositionRange {
  int begin = 0;
  int end = 0;
};

// Pair p is row tile.first_row + p / group, head kv_head * group + p % group.
template <class Lanes, class Element>
class AttentionUnit {
 public:
  AttentionUnit(const AttentionArgs& args, int64_t unit, Lane& lane)
      : args_(args),
        tile_(args.tiles[unit / args.layer.kv_heads]),
        kv_head_(unit % args.layer.kv_heads),
        group_(args.heads / args.layer.kv_heads),
        pairs_(tile_.rows * group_),
        head_size_(args.layer.head_size) {
    const int64_t floats = pairs_ * (kAttentionChunk + 2 * head_size_ + 4) + group_ * kAttentionChunk;
    scores_ = static_cast<float*>(lane.Scratch(floats * sizeof(float) + pairs_ * sizeof(float*)));
    slot_scores_ = scores_ + pairs_ * kAttentionChunk;
    o_ = slot_scores_ + group_ * kAttentionChunk;
    total_ = o_ + pairs_ * head_size_;
    chunk_m_ = total_ + pairs_ * head_size_;
    chunk_l_ = chunk_m_ + pairs_;
    m_ = chunk_l_ + pairs_;
    l_ = m_ + pairs_;
    q_ = reinterpret_cast<const float**>(l_ + pairs_);
  }

  void Run() {
    PositionRange all{Visible(0).begin, 0};
    for (int row = 0; row < tile_.rows; ++row) {
      const PositionRange visible = Visible(row);
      if (visible.begin < all.begin) all.begin = visible.begin;
      if (visible.end > all.end) all.end = visible.end;
      const float* const q =
          args_.q + (tile_.first_row + row) * args_.q_stride + kv_head_ * group_ * head_size_;
      for (int head = 0; head < group_; ++head) q_[row * group_ + head] = q + head * head_size_;
    }
    for (int pair = 0; pair < pairs_; ++pair) {
      m_[pair] = -__builtin_inff();
      l_[pair] = 0;
    }
    Clear(total_, pairs_);
    const int first_chunk = all.begin / kAttentionChunk * kAttentionChunk;
    for (int chunk = first_chunk; chunk < all.end; chunk += kAttentionChunk) RunChunk(chunk);
    for (int pair = 0; pair < pairs_; ++pair) WriteOutput(pair);
  }

 private:
  const AttentionRow& Row(int row) const { return args_.rows[tile_.first_row + row]; }

  PositionRange Visible(int row) const {
    const int end = Row(row).prefix + Row(row).tail_count;
    return {args_.window > 0 && end > args_.window ? end - args_.window : 0, end};
  }
  PositionRange VisibleIn(int row, int begin, int end) const {
    const PositionRange visible = Visible(row);
    return {visible.begin > begin ? visible.begin : begin, visible.end < end ? visible.end : end};
  }
  // What `row` sees of the block at position `block` through its prefix; {0, 0} if nothing.
  PositionRange PrefixOf(int row, int block) const {
    PositionRange range = VisibleIn(row, block, block + kBlockTokens);
    if (Row(row).prefix < range.end) range.end = Row(row).prefix;
    return range.begin < range.end ? range : PositionRange{};
  }

  const Element* Keys(const std::byte* block) const {
    return reinterpret_cast<const Element*>(block + args_.layer.offset) +
           kv_head_ * kBlockTokens * head_size_;
  }
  const Element* Values(const std::byte* block) const {
    return Keys(block) + static_cast<int64_t>(args_.layer.kv_heads) * kBlockTokens * head_size_;
  }

  // The prefix block after the one at position `block`; itself if it is the last.
  static const std::byte* Next(const AttentionRow& row, int block) {
    return row.blocks[(block + kBlockTokens < row.prefix ? block + kBlockTokens : block) / kBlockTokens];
  }

  void Clear(float* x, int64_t pairs) {
    for (int64_t i = 0; i < pairs * head_size_; i += 16) Lanes::Broadcast(0).Store(x + i);
  }

  void RunChunk(int chunk) {
    const int end = chunk + kAttentionChunk;
    for (int block = chunk; block < end; block += kBlockTokens) ScoreBlock(chunk, block);
    for (int row = 0; row < tile_.rows; ++row) {
      const PositionRange visible = VisibleIn(row, chunk, end);
      if (visible.begin >= visible.end) continue;
      ScoreTail(row, chunk, visible);
      for (int pair = row * group_; pair < (row + 1) * group_; ++pair) {
        ChunkSoftmax<Lanes>(scores_ + pair * kAttentionChunk, visible.begin - chunk, visible.end - chunk,
                            chunk_m_ + pair, chunk_l_ + pair);
      }
    }
    Clear(o_, pairs_);
    for (int block = chunk; block < end; block += kBlockTokens) AddBlockValues(chunk, block);
    for (int row = 0; row < tile_.rows; ++row) {
      const PositionRange visible = VisibleIn(row, chunk, end);
      if (visible.begin >= visible.end) continue;
      AddTailValues(row, chunk, visible);
      for (int pair = row * group_; pair < (row + 1) * group_; ++pair) {
        MergeChunk<Lanes>(chunk_m_[pair], chunk_l_[pair], o_ + pair * head_size_, head_size_, m_ + pair,
                          l_ + pair, total_ + pair * head_size_);
      }
    }
  }

  // Calls work(first row, rows, range) for each run of rows that see the same part, not empty, of a block.
  template <class Work>
  void ForEachRun(int block, Work work) {
    for (int row = 0; row < tile_.rows;) {
      const PositionRange range = PrefixOf(row, block);
      int next = row + 1;
      for (; next < tile_.rows; ++next) {
        const PositionRange other = PrefixOf(next, block);
        if (other.begin != range.begin || other.end != range.end) break;
      }
      if (range.begin < range.end) work(row, next - row, range);
      row = next;
    }
  }

  // Scores all 16 tokens for all rows from the first to the last that see any; ChunkSoftmax drops the
  // invisible.
  void ScoreBlock(int chunk, int block) {
    int first = tile_.rows, end = 0;
    ForEachRun(block, [&](int row, int rows, PositionRange) {
      if (row < first) first = row;
      end = row + rows;
    });
    if (first >= end) return;
    ScorePairs<Lanes>((end - first) * group_, q_ + first * group_,
                      Keys(Row(first).blocks[block / kBlockTokens]), Keys(Next(Row(first), block)),
                      head_size_, args_.scale, scores_ + first * group_ * kAttentionChunk + (block - chunk));
  }

  // Scores the whole block of a tail slot and takes the slot's lane: the same chain as for a prefix token.
  void ScoreTail(int row, int chunk, PositionRange visible) {
    const int prefix = Row(row).prefix;
    const std::byte* scored = nullptr;
    for (int j = visible.begin > prefix ? visible.begin : prefix; j < visible.end; ++j) {
      const KvSlot slot = Row(row).tail[j - prefix];
      if (slot.block != scored) {
        ScorePairs<Lanes>(group_, q_ + row * group_, Keys(slot.block), Keys(slot.block), head_size_,
                          args_.scale, slot_scores_);
        scored = slot.block;
      }
      for (int head = 0; head < group_; ++head) {
        scores_[(row * group_ + head) * kAttentionChunk + (j - chunk)] =
            slot_scores_[head * kAttentionChunk + slot.offset];
      }
    }
  }

  void AddBlockValues(int chunk, int block) {
    ForEachRun(block, [&](int row, int rows, PositionRange range) {
      const Element* const values = Values(Row(row).blocks[block / kBlockTokens]);
      AddValues<Lanes>(rows * group_, scores_ + row * group_ * kAttentionChunk + (range.begin - chunk),
                       values + static_cast<int64_t>(range.begin - block) * head_size_,
                       Values(Next(Row(row), block)), range.end - range.begin, head_size_,
                       o_ + row * group_ * head_size_);
    });
  }

  void AddTailValues(int row, int chunk, PositionRange visible) {
    const int prefix = Row(row).prefix;
    for (int j = visible.begin > prefix ? visible.begin : prefix; j < visible.end; ++j) {
      const KvSlot slot = Row(row).tail[j - prefix];
      AddValues<Lanes>(group_, scores_ + row * group_ * kAttentionChunk + (j - chunk),
                       Values(slot.block) + slot.offset * head_size_, Values(slot.block), 1, head_size_,
                       o_ + row * group_ * head_size_);
    }
  }

  void WriteOutput(int pair) {
    const int64_t row = tile_.first_row + pair / group_;
    const int64_t head = kv_head_ * group_ + pair % group_;
    float* const y = args_.y + (row * args_.heads + head) * head_size_;
    const Lanes l = Lanes::Broadcast(l_[pair]);
    for (int d = 0; d < head_size_; d += 16) (Lanes::Load(total_ + pair * head_size_ + d) / l).Store(y + d);
  }

  const AttentionArgs& args_;
  const AttentionTile tile_;
  const int64_t kv_head_;
  const int group_;
  const int pairs_;
  const int64_t head_size_;
  float* scores_;       // [pairs][kAttentionChunk]: scores, then e
  float* slot_scores_;  // [group][kAttentionChunk]: a tail slot's block
  float* o_;            // [pairs][head_size]
  float* total_;        // [pairs][head_size]: O
  float* chunk_m_;      // [pairs]
  float* chunk_l_;      // [pairs]
  float* m_;            // [pairs]: M
  float* l_;            // [pairs]: L
  const float** q_;     // [pairs] to [head_size]
};

template <class Lanes>
void AttentionLanes(const AttentionArgs& args, WorkRange units, Lane& lane) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    if (args.layer.dtype == KvDtype::kF16) {
      AttentionUnit<Lanes, uint16_t>(args, unit, lane).Run();
    } else {
      AttentionUnit<Lanes, float>(args, unit, lane).Run();
    }
  }
}

}  // namespace forerun
