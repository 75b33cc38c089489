// Into how many units attention is cut, and how much memory its workspaces take.
#include <algorithm>

#include "kernels/attention/attention_unfused.h"
#include "kernels/attention/attention_unit.h"

namespace forerun {
namespace {

struct Baseline;  // this file's copy of attention_unit.h

int64_t Ceiling(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

AttentionSplit ChooseAttentionSplit(const AttentionArgs& args, int64_t tiles, int threads) {
  AttentionArgs whole = args;
  whole.split = {};
  AttentionSplit split;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const AttentionUnitShape<Baseline> shape(whole, tile * args.layer.kv_heads);
    split.chunks = std::max(split.chunks, (shape.end() - shape.first_chunk()) / kAttentionChunk);
    split.tile_rows = std::max(split.tile_rows, shape.rows());
  }
  // Four units a thread, so that a slow one can leave some to the others. Where the threads would be even as
  // it is, that must be worth the merge.
  int64_t units = tiles * args.layer.kv_heads;
  if (threads == 1 || units >= 4 * threads) return split;
  if (units % threads != 0 || split.chunks >= 4) {
    split.parts = static_cast<int32_t>(std::clamp<int64_t>(Ceiling(4 * threads, units), 1, split.chunks));
    while (split.parts < split.chunks && units * split.parts % threads != 0) ++split.parts;
  }
  // A short context has too few chunks. Heads can be parted too, but each part reads the context again, and
  // needs two pairs to keep a core busy.
  units *= split.parts;
  if (units % threads != 0 && units < 2 * threads) {
    const int group = args.heads / args.layer.kv_heads;
    const int most = std::max(1, std::min(group, split.tile_rows * group / 2));
    split.head_parts = static_cast<int32_t>(std::min<int64_t>(Ceiling(2 * threads, units), most));
  }
  return split;
}

int64_t AttentionPartialFloats(const AttentionArgs& args, int64_t tiles) {
  if (args.split.parts == 1) return 0;
  return tiles * args.layer.kv_heads * args.split.chunks *
         AttentionUnitShape<Baseline>::RecordFloats(args, args.layer.head_size);
}

int64_t AttentionScoreFloats(const AttentionArgs& args, int64_t tiles) {
  return tiles * args.layer.kv_heads * args.split.chunks *
         AttentionUnitShape<Baseline>::RecordFloats(args, kScoreStride);
}

}  // namespace forerun
