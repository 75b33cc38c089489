// One unit's context as a Lanes type's code reads it: the prefix in steps of a few blocks, then the slots of
// tails.
#pragma once

#include <cstdint>

#include "kernels/attention/attention_tiles.h"
#include "kernels/attention/attention_unit.h"

namespace forerun {

template <class Lanes, class Element>
class AttentionContext : public AttentionUnitShape<Lanes> {
  using Shape = AttentionUnitShape<Lanes>;

 public:
  AttentionContext(const AttentionArgs& args, int64_t unit)
      : Shape(args, unit), args_(args), head_size_(args.layer.head_size) {
    common_ = {0, Shape::end()};
    for (int row = 0; row < Shape::rows(); ++row) {
      const PositionRange visible = Shape::Visible(row);
      const int prefix = Shape::Row(row).prefix;
      if (visible.begin > common_.begin) common_.begin = visible.begin;
      if (prefix < common_.end) common_.end = prefix;
      if (row == 0 || visible.begin < any_.begin) any_.begin = visible.begin;
      if (prefix > any_.end) any_.end = prefix;
      tail_slots_ += Shape::Row(row).tail_count;
    }
    any_.begin = any_.begin / kBlockTokens * kBlockTokens;
  }

  int64_t head_size() const { return head_size_; }
  int tail_slots() const { return tail_slots_; }
  PositionRange common() const { return common_; }

  const Element* Keys(const std::byte* block) const {
    return reinterpret_cast<const Element*>(block + args_.layer.offset) +
           Shape::kv_head() * kBlockTokens * head_size_;
  }
  const Element* Values(const std::byte* block) const {
    return Keys(block) + static_cast<int64_t>(args_.layer.kv_heads) * kBlockTokens * head_size_;
  }
  // The blocks of the step at position `block`.
  BlockRun<Element> KeyRun(int block) const {
    BlockRun<Element> run;
    for (int i = 0; i < kStepBlocks; ++i) run.blocks[i] = Keys(Block(block + i * kBlockTokens));
    return run;
  }
  BlockRun<Element> ValueRun(int block) const {
    BlockRun<Element> run;
    for (int i = 0; i < kStepBlocks; ++i) run.blocks[i] = Values(Block(block + i * kBlockTokens));
    return run;
  }

  // The part of a chunk that any row sees through its prefix, in whole blocks; empty: begin >= end.
  PositionRange PrefixIn(int chunk) const {
    const int end = chunk + kAttentionChunk;
    return {any_.begin > chunk ? any_.begin : chunk, any_.end < end ? any_.end : end};
  }

  // Calls work(row, end) for each run of rows [row, end) of which `property` says the same, but for false.
  template <class Property, class Work>
  void ForEachRun(Property property, Work work) const {
    for (int row = 0, next; row < Shape::rows(); row = next) {
      const auto value = property(row);
      for (next = row + 1; next < Shape::rows() && property(next) == value;) ++next;
      if (value) work(row, next);
    }
  }

  // The prefix block at position `block`; the last one if that is past the end.
  const std::byte* Block(int block) const {
    return Shape::Row(0).blocks[(block < any_.end ? block : any_.end - 1) / kBlockTokens];
  }

  // Calls work(row, position, slot) for the tails' part of a chunk.
  template <class Work>
  void ForEachTailSlot(int chunk, Work work) const {
    for (int row = 0; row < Shape::rows(); ++row) {
      const int prefix = Shape::Row(row).prefix;
      const PositionRange visible = Shape::VisibleIn(row, chunk, chunk + kAttentionChunk);
      for (int j = visible.begin > prefix ? visible.begin : prefix; j < visible.end; ++j) {
        work(row, j, Shape::Row(row).tail[j - prefix]);
      }
    }
  }

 private:
  const AttentionArgs& args_;
  const int64_t head_size_;
  PositionRange common_;  // what every row sees through its prefix
  PositionRange any_;     // what some row does, from the start of a block
  int tail_slots_ = 0;
};

}  // namespace forerun
