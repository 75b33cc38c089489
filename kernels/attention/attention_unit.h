// What one unit of attention.h works on: its rows and heads, which positions they see, its part of the
// context, and where its share of the workspaces lies. `Tag` is the Lanes type of the file that includes
// this, so that each instruction set has its own copy of the code.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace forerun {

struct PositionRange {
  int begin = 0;
  int end = 0;
};

// From one pair's scores of a chunk to the next pair's. The 16 places after a chunk take the scores of a
// block that tails lie in.
inline constexpr int kScoreStride = kAttentionChunk + kBlockTokens;

// One chunk of a unit in a workspace.
struct AttentionRecord {
  float* m = nullptr;  // [pairs]
  float* l = nullptr;  // [pairs]
  float* x = nullptr;  // [pairs][head_size]: o; or [pairs][kScoreStride]: scores
};

// Pair p is row tile.first_row + p / heads, head first_head + p % heads.
template <class Tag>
class AttentionUnitShape {
 public:
  AttentionUnitShape(const AttentionArgs& args, int64_t unit) : args_(args) {
    const int parts = args.split.parts, head_parts = args.split.head_parts;
    const int group = args.heads / args.layer.kv_heads;
    part_ = static_cast<int>(unit % parts);
    const int head_part = static_cast<int>(unit / parts % head_parts);
    slab_ = unit / parts / head_parts;
    kv_head_ = slab_ % args.layer.kv_heads;
    tile_ = args.tiles[slab_ / args.layer.kv_heads];
    const int begin = group * head_part / head_parts;
    heads_ = group * (head_part + 1) / head_parts - begin;
    first_head_ = static_cast<int>(kv_head_) * group + begin;
    first_pair_ = tile_.rows * begin;
    PositionRange all = Visible(0);
    for (int row = 1; row < tile_.rows; ++row) {
      const PositionRange visible = Visible(row);
      if (visible.begin < all.begin) all.begin = visible.begin;
      if (visible.end > all.end) all.end = visible.end;
    }
    first_chunk_ = all.begin / kAttentionChunk * kAttentionChunk;
    chunks_ = (all.end - first_chunk_ + kAttentionChunk - 1) / kAttentionChunk;
  }

  int rows() const { return tile_.rows; }
  int first_row() const { return tile_.first_row; }
  int first_head() const { return first_head_; }
  int heads() const { return heads_; }
  int pairs() const { return tile_.rows * heads_; }
  int64_t kv_head() const { return kv_head_; }
  int part() const { return part_; }
  const AttentionRow& Row(int row) const { return args_.rows[tile_.first_row + row]; }
  const float* Query(int row) const {
    return args_.q + (tile_.first_row + row) * args_.q_stride + first_head_ * args_.layer.head_size;
  }
  float* Output(int pair) const {
    const int64_t row = tile_.first_row + pair / heads_;
    return args_.y + (row * args_.heads + first_head_ + pair % heads_) * args_.layer.head_size;
  }

  PositionRange Visible(int row) const {
    const int end = Row(row).prefix + Row(row).tail_count;
    return {args_.window > 0 && end > args_.window ? end - args_.window : 0, end};
  }
  PositionRange VisibleIn(int row, int begin, int end) const {
    const PositionRange visible = Visible(row);
    return {visible.begin > begin ? visible.begin : begin, visible.end < end ? visible.end : end};
  }
  bool Sees(int row, int chunk) const {
    const PositionRange visible = VisibleIn(row, chunk, chunk + kAttentionChunk);
    return visible.begin < visible.end;
  }
  // What `row` sees of the block at position `block` through its prefix; {0, 0} if nothing.
  PositionRange PrefixOf(int row, int block) const {
    PositionRange range = VisibleIn(row, block, block + kBlockTokens);
    if (Row(row).prefix < range.end) range.end = Row(row).prefix;
    return range.begin < range.end ? range : PositionRange{};
  }

  // Positions of the chunks of a part; part 0 has at least one chunk if any has.
  PositionRange Part(int part) const { return {PartBegin(part), PartBegin(part + 1)}; }
  int end() const { return PartBegin(args_.split.parts); }

  // In `partials`. That of the first chunk holds what part 0 has merged.
  AttentionRecord Partial(int chunk) const {
    return Record(args_.partials, chunk, args_.layer.head_size, RecordPairs(args_));
  }
  AttentionRecord Scores(int chunk) const {
    return Record(args_.scores, chunk, kScoreStride, RecordPairs(args_));
  }
  int first_chunk() const { return first_chunk_; }

  static int64_t RecordPairs(const AttentionArgs& args) {
    const int64_t pairs = int64_t{args.split.tile_rows} * args.heads / args.layer.kv_heads;
    return (pairs + 15) / 16 * 16;
  }
  static int64_t RecordFloats(const AttentionArgs& args, int64_t width) {
    return RecordPairs(args) * (width + 2);
  }

 private:
  int PartBegin(int part) const {
    const int parts = args_.split.parts;
    return first_chunk_ + (chunks_ * part + parts - 1) / parts * kAttentionChunk;
  }
  AttentionRecord Record(float* workspace, int chunk, int64_t width, int64_t pairs) const {
    const int64_t index = slab_ * args_.split.chunks + (chunk - first_chunk_) / kAttentionChunk;
    float* const record = workspace + index * RecordFloats(args_, width);
    return {record + first_pair_, record + pairs + first_pair_, record + 2 * pairs + first_pair_ * width};
  }

  const AttentionArgs& args_;
  AttentionTile tile_;
  int64_t slab_ = 0;  // tile * kv_heads + KV head
  int64_t kv_head_ = 0;
  int part_ = 0;
  int first_head_ = 0;
  int heads_ = 0;
  int64_t first_pair_ = 0;  // of all the pairs of the slab
  int first_chunk_ = 0;     // position of the first chunk that any row sees
  int chunks_ = 0;          // of all parts
};

}  // namespace forerun
