// attention.h over a Lanes type. A unit's pairs (row, head of the group) go through the context together,
// chunk by chunk: scores of every block, softmax, values of every block, merge. So a block is read once for
// all pairs. Each step asks memory for what the next one will read.
#pragma once

#include <cstdint>

#include "kernels/attention/attention_context.h"
#include "kernels/attention/attention_softmax.h"
#include "kernels/attention/attention_tiles.h"

namespace forerun {

template <class Lanes, class Element>
class AttentionUnit {
 public:
  AttentionUnit(const AttentionArgs& args, int64_t unit, Lane& lane)
      : args_(args),
        shape_(args, unit),
        part_(shape_.Part(shape_.part())),
        pairs_(shape_.pairs()),
        head_size_(args.layer.head_size),
        step_(EvenTile<Lanes>(pairs_)) {
    const int64_t floats = pairs_ * (kScoreStride + 3 * head_size_ + 4);
    q_ = static_cast<float*>(
        lane.Scratch(floats * sizeof(float) + shape_.tail_slots() * sizeof(std::byte*) + 64));
    total_ = q_ + pairs_ * head_size_;
    own_.x = total_ + pairs_ * head_size_;
    scores_ = own_.x + pairs_ * head_size_;
    own_.m = scores_ + pairs_ * kScoreStride;
    own_.l = own_.m + pairs_;
    m_ = own_.l + pairs_;
    l_ = m_ + pairs_;
    tail_blocks_ = reinterpret_cast<const std::byte**>((reinterpret_cast<uintptr_t>(l_ + pairs_) + 63) & ~63);
  }

  void Run() {
    PackQueries();
    StartMerge();
    for (int chunk = part_.begin; chunk < part_.end; chunk += kAttentionChunk) {
      Score(chunk, scores_);
      Softmax(chunk, {own_.m, own_.l, scores_});
      AddValues(chunk, {own_.m, own_.l, scores_});
    }
    Finish();
  }
  void RunScores() {
    PackQueries();
    for (int chunk = part_.begin; chunk < part_.end; chunk += kAttentionChunk) {
      Score(chunk, shape_.Scores(chunk).x);
    }
  }
  void RunSoftmax() {
    for (int chunk = part_.begin; chunk < part_.end; chunk += kAttentionChunk) {
      Softmax(chunk, shape_.Scores(chunk));
    }
  }
  void RunValues() {
    StartMerge();
    for (int chunk = part_.begin; chunk < part_.end; chunk += kAttentionChunk) {
      AddValues(chunk, shape_.Scores(chunk));
    }
    Finish();
  }
  // For a unit that is part 0: what it has merged and the chunks of the other parts.
  void RunMerge() {
    const AttentionRecord merged = shape_.Partial(shape_.first_chunk());
    m_ = merged.m, l_ = merged.l, total_ = merged.x;
    for (int chunk = part_.end; chunk < shape_.end(); chunk += kAttentionChunk) {
      Merge(chunk, shape_.Partial(chunk));
    }
    WriteOutput();
  }

 private:
  // By tile: [head_size][pairs of the tile].
  void PackQueries() {
    for (int pair = 0; pair < pairs_; ++pair) {
      const int first = pair / step_ * step_;
      const int count = step_ < pairs_ - first ? step_ : pairs_ - first;
      const float* const from = shape_.Query(pair / shape_.heads()) + pair % shape_.heads() * head_size_;
      float* const to = q_ + first * head_size_ + (pair - first);
      for (int64_t d = 0; d < head_size_; ++d) to[d * count] = from[d];
    }
  }

  // Scores of all tokens of up to kStepBlocks blocks for all pairs; ChunkSoftmax drops the invisible.
  void ScorePairs(const BlockRun<Element>& keys, const BlockRun<Element>& next, int blocks, float* scores) {
    for (int first = 0; first < pairs_; first += step_) {
      const int count = step_ < pairs_ - first ? step_ : pairs_ - first;
      ScoreBlocks<kTilePairs<Lanes>, Lanes>(count, q_ + first * head_size_, keys, next, blocks, head_size_,
                                            args_.scale, scores + first * kScoreStride);
    }
  }

  void Score(int chunk, float* scores) {
    const PositionRange prefix = shape_.PrefixIn(chunk);
    for (int block = prefix.begin; block < prefix.end; block += kStepTokens) {
      const int next = block + kStepTokens, left = (prefix.end - block + kBlockTokens - 1) / kBlockTokens;
      ScorePairs(shape_.KeyRun(block),
                 next < prefix.end ? shape_.KeyRun(next) : shape_.ValueRun(prefix.begin),
                 left < kStepBlocks ? left : kStepBlocks, scores + (block - chunk));
    }
    ScoreTails(chunk, scores);
  }

  // Scores each block that holds tail slots whole, then takes the slots' lanes: the same chain as for a
  // prefix token.
  void ScoreTails(int chunk, float* scores) {
    int blocks = 0;
    shape_.ForEachTailSlot(chunk, [&](int, int, KvSlot slot) {
      for (int i = 0; i < blocks; ++i) {
        if (tail_blocks_[i] == slot.block) return;
      }
      tail_blocks_[blocks++] = slot.block;
    });
    for (int i = 0; i < blocks; ++i) {
      const BlockRun<Element> keys = {{shape_.Keys(tail_blocks_[i])}};
      ScorePairs(keys, keys, 1, scores + kAttentionChunk);
      shape_.ForEachTailSlot(chunk, [&](int row, int position, KvSlot slot) {
        if (slot.block != tail_blocks_[i]) return;
        float* const first = scores + row * shape_.heads() * kScoreStride;
        for (float* s = first; s < first + shape_.heads() * kScoreStride; s += kScoreStride) {
          s[position - chunk] = s[kAttentionChunk + slot.offset];
        }
      });
    }
  }

  void Softmax(int chunk, AttentionRecord scores) {
    for (int pair = 0; pair < pairs_; ++pair) {
      const PositionRange visible = shape_.VisibleIn(pair / shape_.heads(), chunk, chunk + kAttentionChunk);
      if (visible.begin >= visible.end) continue;
      ChunkSoftmax<Lanes>(scores.x + pair * kScoreStride, visible.begin - chunk, visible.end - chunk,
                          scores.m + pair, scores.l + pair);
    }
  }

  // Adds the values of up to kStepBlocks blocks, from position `from`, for the pairs of rows [row, end).
  void AddTokens(int row, int end, const BlockRun<Element>& values, const BlockRun<Element>& next, int tokens,
                 const float* weights, float* o) {
    const int last = end * shape_.heads();
    const int step = row == 0 && last == pairs_ ? step_ : EvenTile<Lanes>(last - row * shape_.heads());
    for (int first = row * shape_.heads(); first < last; first += step) {
      AddBlocks<kTilePairs<Lanes>, Lanes>(step < last - first ? step : last - first,
                                          weights + first * kScoreStride, values, next, tokens, head_size_,
                                          o + first * head_size_);
    }
  }

  void AddValues(int chunk, AttentionRecord scores) {
    const AttentionRecord own = shape_.part() > 0 ? shape_.Partial(chunk) : own_;
    Clear(own.x);
    const PositionRange prefix = shape_.PrefixIn(chunk);
    for (int block = prefix.begin; block < prefix.end;) {
      const int common = (shape_.common().end < prefix.end ? shape_.common().end : prefix.end) - block;
      if (block >= shape_.common().begin && common >= kBlockTokens) {
        const int tokens = common >= kStepTokens ? kStepTokens : common / kBlockTokens * kBlockTokens;
        const BlockRun<Element> next = block + tokens < prefix.end ? shape_.ValueRun(block + tokens)
                                                                   : shape_.KeyRun(chunk + kAttentionChunk);
        AddTokens(0, shape_.rows(), shape_.ValueRun(block), next, tokens, scores.x + (block - chunk), own.x);
        block += tokens;
      } else {
        AddUnevenBlock(block, scores.x + (block - chunk), own.x);
        block += kBlockTokens;
      }
    }
    shape_.ForEachTailSlot(chunk, [&](int row, int position, KvSlot slot) {
      const Element* const value = shape_.Values(slot.block) + slot.offset * head_size_;
      AddTokens(row, row + 1, {{value}}, {{value}}, 1, scores.x + (position - chunk), own.x);
    });
    if (shape_.part() == 0) {
      Merge(chunk, {scores.m, scores.l, own.x});
    } else {
      for (int pair = 0; pair < pairs_; ++pair) own.m[pair] = scores.m[pair], own.l[pair] = scores.l[pair];
    }
  }

  // A block of which not every row sees every token.
  void AddUnevenBlock(int block, const float* weights, float* o) {
    const Element* const values = shape_.Values(shape_.Block(block));
    shape_.ForEachRun(
        [&](int row) {
          const PositionRange range = shape_.PrefixOf(row, block);
          return range.end == 0 ? 0 : (range.begin - block) * 32 + (range.end - block);
        },
        [&](int row, int end) {
          const PositionRange range = shape_.PrefixOf(row, block);
          const int skip = range.begin - block;
          const Element* const first = values + skip * head_size_;
          AddTokens(row, end, {{first}}, {{values}}, range.end - range.begin, weights + skip, o);
        });
  }

  void Clear(float* x) {
    for (int64_t i = 0; i < pairs_ * head_size_; i += 16) Lanes::Broadcast(0).Store(x + i);
  }

  void StartMerge() {
    if (shape_.part() > 0) return;
    if (args_.split.parts > 1) {
      const AttentionRecord merged = shape_.Partial(shape_.first_chunk());
      m_ = merged.m, l_ = merged.l, total_ = merged.x;
    }
    for (int pair = 0; pair < pairs_; ++pair) m_[pair] = -__builtin_inff(), l_[pair] = 0;
    Clear(total_);
  }
  void Merge(int chunk, AttentionRecord record) {
    shape_.ForEachRun([&](int row) { return shape_.Sees(row, chunk); },
                      [&](int row, int end) {
                        const int first = row * shape_.heads();
                        MergeChunk<Lanes>((end - row) * shape_.heads(), record.m + first, record.l + first,
                                          record.x + first * head_size_, head_size_, m_ + first, l_ + first,
                                          total_ + first * head_size_);
                      });
  }
  void Finish() {
    if (args_.split.parts == 1) WriteOutput();
  }
  void WriteOutput() {
    for (int pair = 0; pair < pairs_; ++pair) {
      float* const y = shape_.Output(pair);
      const Lanes l = Lanes::Broadcast(l_[pair]);
      for (int64_t d = 0; d < head_size_; d += 16) {
        (Lanes::Load(total_ + pair * head_size_ + d) / l).Store(y + d);
      }
    }
  }

  const AttentionArgs& args_;
  const AttentionContext<Lanes, Element> shape_;
  const PositionRange part_;
  const int pairs_;
  const int64_t head_size_;
  const int step_;       // pairs in a tile
  float* q_;             // by tile
  float* scores_;        // [pairs][kScoreStride]: scores, then e
  AttentionRecord own_;  // m, l, o of a chunk
  float* total_;         // [pairs][head_size]: O
  float* m_;             // [pairs]: M
  float* l_;             // [pairs]: L
  const std::byte** tail_blocks_;
};

// Calls work(unit) for each of `units`, with the type of what the KV holds.
template <class Lanes, class Work>
void ForEachAttentionUnit(const AttentionArgs& args, WorkRange units, Lane& lane, Work work) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    if (args.layer.dtype == KvDtype::kF16) {
      AttentionUnit<Lanes, uint16_t> half(args, unit, lane);
      work(half);
    } else {
      AttentionUnit<Lanes, float> full(args, unit, lane);
      work(full);
    }
  }
}

}  // namespace forerun
