// The definition of attention.h and attention_unfused.h in plain loops: one row, one head, one position at a
// time.
#include <cmath>
#include <limits>

#include "kernels/attention/attention_unfused.h"
#include "kernels/attention/attention_unit.h"
#include "kernels/formats/tensor_type.h"
#include "kernels/simd/exp.h"

namespace forerun {
namespace {

// The keys and values of one KV head as one row sees them.
class Context {
 public:
  Context(const KvLayerView& layer, const AttentionRow& row, int64_t kv_head)
      : layer_(layer), row_(row), kv_head_(kv_head) {}

  float Key(int position, int64_t d) const {
    const Place place = At(position);
    return Element(place.base, (kv_head_ * layer_.head_size + d) * kBlockTokens + place.offset);
  }
  float Value(int position, int64_t d) const {
    const Place place = At(position);
    return Element(place.base + layer_.key_bytes(),
                   (kv_head_ * kBlockTokens + place.offset) * layer_.head_size + d);
  }

 private:
  struct Place {
    const std::byte* base;
    int offset;
  };

  Place At(int position) const {
    if (position < row_.prefix) {
      return {row_.blocks[position / kBlockTokens] + layer_.offset, position % kBlockTokens};
    }
    const KvSlot slot = row_.tail[position - row_.prefix];
    return {slot.block + layer_.offset, slot.offset};
  }
  float Element(const std::byte* base, int64_t index) const {
    if (layer_.dtype == KvDtype::kF16) return HalfToFloat(reinterpret_cast<const uint16_t*>(base)[index]);
    return reinterpret_cast<const float*>(base)[index];
  }

  const KvLayerView& layer_;
  const AttentionRow& row_;
  int64_t kv_head_;
};

struct Plain;  // this file's copy of attention_unit.h

// One unit; each function is for one pair and one chunk. `record` is the unit's, of that chunk.
class Unit {
 public:
  Unit(const AttentionArgs& args, int64_t unit)
      : args_(args), shape_(args, unit), head_size_(args.layer.head_size) {}

  const AttentionUnitShape<Plain>& shape() const { return shape_; }

  // Calls work(pair, chunk) for what the pairs see of chunks [begin, end).
  template <class Work>
  void ForEachChunk(int pair, PositionRange chunks, Work work) const {
    for (int chunk = chunks.begin; chunk < chunks.end; chunk += kAttentionChunk) {
      if (shape_.Sees(pair / shape_.heads(), chunk)) work(chunk);
    }
  }

  void Score(int pair, int chunk, float* scores) const {
    const Context context(args_.layer, shape_.Row(pair / shape_.heads()), shape_.kv_head());
    const float* const q = shape_.Query(pair / shape_.heads()) + pair % shape_.heads() * head_size_;
    const PositionRange visible = VisibleIn(pair, chunk);
    for (int j = visible.begin; j < visible.end; ++j) {
      float score = 0;
      for (int64_t d = 0; d < head_size_; ++d) score = std::fma(q[d], context.Key(j, d), score);
      scores[j - chunk] = score * args_.scale;
    }
  }

  void Softmax(int pair, int chunk, float* scores, float* m, float* l) const {
    const PositionRange visible = VisibleIn(pair, chunk);
    *m = -std::numeric_limits<float>::infinity();
    for (int j = visible.begin; j < visible.end; ++j) {
      if (scores[j - chunk] > *m) *m = scores[j - chunk];
    }
    float lanes[16] = {};
    for (int j = visible.begin; j < visible.end; ++j) {
      scores[j - chunk] = Exp(scores[j - chunk] - *m);
      lanes[j % 16] += scores[j - chunk];
    }
    for (int width = 8; width > 0; width /= 2) {
      for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    }
    *l = lanes[0];
  }

  void AddValues(int pair, int chunk, const float* e, float* o) const {
    const Context context(args_.layer, shape_.Row(pair / shape_.heads()), shape_.kv_head());
    const PositionRange visible = VisibleIn(pair, chunk);
    for (int64_t d = 0; d < head_size_; ++d) {
      o[d] = 0;
      for (int j = visible.begin; j < visible.end; ++j) {
        o[d] = std::fma(e[j - chunk], context.Value(j, d), o[d]);
      }
    }
  }

  void Merge(float chunk_m, float chunk_l, const float* o, float* m, float* l, float* total) const {
    const float new_m = chunk_m > *m ? chunk_m : *m;
    const float w = Exp(chunk_m - new_m), old_w = Exp(*m - new_m);
    *l = std::fma(chunk_l, w, *l * old_w);
    for (int64_t d = 0; d < head_size_; ++d) total[d] = std::fma(o[d], w, total[d] * old_w);
    *m = new_m;
  }

  void WriteOutput(int pair, float l, const float* total) const {
    for (int64_t d = 0; d < head_size_; ++d) shape_.Output(pair)[d] = total[d] / l;
  }

 private:
  PositionRange VisibleIn(int pair, int chunk) const {
    return shape_.VisibleIn(pair / shape_.heads(), chunk, chunk + kAttentionChunk);
  }

  const AttentionArgs& args_;
  const AttentionUnitShape<Plain> shape_;
  const int64_t head_size_;
};

// Attention of a unit; `chunk_scores`(pair, chunk, &m, &l) gives e, m and l.
template <class ChunkScores>
void Attend(const AttentionArgs& args, int64_t index, float* o, ChunkScores chunk_scores) {
  const Unit unit(args, index);
  const int64_t size = args.layer.head_size;
  const bool first = unit.shape().part() == 0, whole = args.split.parts == 1;
  for (int pair = 0; pair < unit.shape().pairs(); ++pair) {
    float own_m, own_l;
    AttentionRecord merged{&own_m, &own_l, o + size};
    if (!whole) {
      merged = unit.shape().Partial(unit.shape().first_chunk());
      merged = {merged.m + pair, merged.l + pair, merged.x + pair * size};
    }
    if (first) {
      *merged.m = -std::numeric_limits<float>::infinity();
      *merged.l = 0;
      for (int64_t d = 0; d < size; ++d) merged.x[d] = 0;
    }
    unit.ForEachChunk(pair, unit.shape().Part(unit.shape().part()), [&](int chunk) {
      float m, l;
      const float* const e = chunk_scores(unit, pair, chunk, &m, &l);
      if (first) {
        unit.AddValues(pair, chunk, e, o);
        unit.Merge(m, l, o, merged.m, merged.l, merged.x);
      } else {
        const AttentionRecord record = unit.shape().Partial(chunk);
        unit.AddValues(pair, chunk, e, record.x + pair * size);
        record.m[pair] = m;
        record.l[pair] = l;
      }
    });
    if (whole) unit.WriteOutput(pair, *merged.l, merged.x);
  }
}

}  // namespace

void AttentionReference(const AttentionArgs& args, WorkRange units, Lane& lane) {
  auto* const o = static_cast<float*>(lane.Scratch(2 * sizeof(float) * args.layer.head_size));
  float scores[kAttentionChunk];
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    Attend(args, unit, o, [&](const Unit& u, int pair, int chunk, float* m, float* l) {
      u.Score(pair, chunk, scores);
      u.Softmax(pair, chunk, scores, m, l);
      return scores;
    });
  }
}

void AttentionMergeReference(const AttentionArgs& args, WorkRange units, Lane&) {
  const int64_t size = args.layer.head_size;
  for (int64_t index = units.begin; index < units.end; ++index) {
    const Unit unit(args, index * args.split.parts);
    const AttentionRecord merged = unit.shape().Partial(unit.shape().first_chunk());
    for (int pair = 0; pair < unit.shape().pairs(); ++pair) {
      float* const total = merged.x + pair * size;
      unit.ForEachChunk(pair, {unit.shape().Part(1).begin, unit.shape().end()}, [&](int chunk) {
        const AttentionRecord record = unit.shape().Partial(chunk);
        unit.Merge(record.m[pair], record.l[pair], record.x + pair * size, merged.m + pair, merged.l + pair,
                   total);
      });
      unit.WriteOutput(pair, merged.l[pair], total);
    }
  }
}

void AttentionScoresReference(const AttentionArgs& args, WorkRange units, Lane&) {
  for (int64_t index = units.begin; index < units.end; ++index) {
    const Unit unit(args, index);
    for (int pair = 0; pair < unit.shape().pairs(); ++pair) {
      unit.ForEachChunk(pair, unit.shape().Part(unit.shape().part()), [&](int chunk) {
        unit.Score(pair, chunk, unit.shape().Scores(chunk).x + pair * kScoreStride);
      });
    }
  }
}

void AttentionSoftmaxReference(const AttentionArgs& args, WorkRange units, Lane&) {
  for (int64_t index = units.begin; index < units.end; ++index) {
    const Unit unit(args, index);
    for (int pair = 0; pair < unit.shape().pairs(); ++pair) {
      unit.ForEachChunk(pair, unit.shape().Part(unit.shape().part()), [&](int chunk) {
        const AttentionRecord record = unit.shape().Scores(chunk);
        unit.Softmax(pair, chunk, record.x + pair * kScoreStride, record.m + pair, record.l + pair);
      });
    }
  }
}

void AttentionValuesReference(const AttentionArgs& args, WorkRange units, Lane& lane) {
  auto* const o = static_cast<float*>(lane.Scratch(2 * sizeof(float) * args.layer.head_size));
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    Attend(args, unit, o, [](const Unit& u, int pair, int chunk, float* m, float* l) {
      const AttentionRecord record = u.shape().Scores(chunk);
      *m = record.m[pair];
      *l = record.l[pair];
      return record.x + pair * kScoreStride;
    });
  }
}

}  // namespace forerun
