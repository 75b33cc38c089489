#include "kernels/fused/qkv.h"

namespace forerun {
namespace {

// The outputs of one head, for all rows, with norm; returns where they begin.
float* Multiply(const QkvArgs& args, const QkvPart& part, int64_t head, Lane& lane) {
  const int64_t groups = args.head_size / kPackedOutputs;
  part.matmul(part.product, {head * groups, (head + 1) * groups}, lane);
  float* const x = part.product.y + head * args.head_size;
  if (part.norm_gain != nullptr) {
    args.kernels->rms_norm({x, part.norm_gain, x, args.head_size, args.norm_epsilon, part.product.y_stride},
                           {0, part.product.rows}, lane);
  }
  return x;
}

void Rotate(const QkvArgs& args, const QkvPart& part, float* x, Lane& lane) {
  RopeArgs rope = args.rope;
  rope.x = x;
  rope.row_stride = part.product.y_stride;
  rope.heads = 1;
  args.kernels->rope(rope, {0, part.product.rows}, lane);
}

void Store(const QkvArgs& args, const QkvPart& part, bool keys, int64_t head, Lane& lane) {
  KvStoreArgs store = args.store;
  (keys ? store.keys : store.values) = part.product.y;
  store.row_stride = part.product.y_stride;
  store.first_head = static_cast<int>(head);
  store.heads = 1;
  args.kernels->kv_store(store, {0, part.product.rows}, lane);
}

}  // namespace

void Qkv(const QkvArgs& args, WorkRange units, Lane& lane) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    if (unit < args.heads) {
      Rotate(args, args.q, Multiply(args, args.q, unit, lane), lane);
    } else if (unit < args.heads + args.kv_heads) {
      const int64_t head = unit - args.heads;
      Rotate(args, args.k, Multiply(args, args.k, head, lane), lane);
      Store(args, args.k, true, head, lane);
    } else {
      const int64_t head = unit - args.heads - args.kv_heads;
      Multiply(args, args.v, head, lane);
      Store(args, args.v, false, head, lane);
    }
  }
}

}  // namespace forerun
