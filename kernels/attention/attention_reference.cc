// The definition of attention.h in plain loops: one row, one head, one position at a time.
#include <cmath>
#include <limits>

#include "kernels/attention/attention.h"
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

struct Merged {
  float m = -std::numeric_limits<float>::infinity();
  float l = 0;
};

// Positions [begin, end) lie in one chunk. o and total: [head_size].
void AddChunk(const Context& context, const float* q, float scale, int head_size, int begin, int end,
              float* o, float* total, Merged& merged) {
  float scores[kAttentionChunk];
  float m = -std::numeric_limits<float>::infinity();
  for (int j = begin; j < end; ++j) {
    float score = 0;
    for (int d = 0; d < head_size; ++d) score = std::fma(q[d], context.Key(j, d), score);
    scores[j - begin] = score * scale;
    if (scores[j - begin] > m) m = scores[j - begin];
  }
  float lanes[16] = {};
  for (int d = 0; d < head_size; ++d) o[d] = 0;
  for (int j = begin; j < end; ++j) {
    const float e = Exp(scores[j - begin] - m);
    lanes[j % 16] += e;
    for (int d = 0; d < head_size; ++d) o[d] = std::fma(e, context.Value(j, d), o[d]);
  }
  for (int width = 8; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  const float new_m = m > merged.m ? m : merged.m;
  const float w = Exp(m - new_m), old_w = Exp(merged.m - new_m);
  merged.l = std::fma(lanes[0], w, merged.l * old_w);
  for (int d = 0; d < head_size; ++d) total[d] = std::fma(o[d], w, total[d] * old_w);
  merged.m = new_m;
}

void AttendHead(const AttentionArgs& args, int64_t row, int64_t head, float* o, float* total) {
  const int head_size = args.layer.head_size;
  const int64_t kv_head = head / (args.heads / args.layer.kv_heads);
  const Context context(args.layer, args.rows[row], kv_head);
  const int end = args.rows[row].prefix + args.rows[row].tail_count;
  const int begin = args.window > 0 && end > args.window ? end - args.window : 0;
  const float* const q = args.q + row * args.q_stride + head * head_size;
  float* const y = args.y + (row * args.heads + head) * head_size;
  Merged merged;
  for (int d = 0; d < head_size; ++d) total[d] = 0;
  for (int chunk = begin / kAttentionChunk * kAttentionChunk; chunk < end; chunk += kAttentionChunk) {
    const int from = chunk > begin ? chunk : begin;
    const int to = chunk + kAttentionChunk < end ? chunk + kAttentionChunk : end;
    AddChunk(context, q, args.scale, head_size, from, to, o, total, merged);
  }
  for (int d = 0; d < head_size; ++d) y[d] = total[d] / merged.l;
}

}  // namespace

void AttentionReference(const AttentionArgs& args, WorkRange units, Lane& lane) {
  const int head_size = args.layer.head_size;
  const int64_t group = args.heads / args.layer.kv_heads;
  auto* const o = static_cast<float*>(lane.Scratch(2 * sizeof(float) * head_size));
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const AttentionTile tile = args.tiles[unit / args.layer.kv_heads];
    const int64_t kv_head = unit % args.layer.kv_heads;
    for (int64_t row = tile.first_row; row < tile.first_row + tile.rows; ++row) {
      for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        AttendHead(args, row, head, o, o + head_size);
      }
    }
  }
}

}  // namespace forerun
