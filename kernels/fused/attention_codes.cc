#include "kernels/fused/attention_codes.h"

#include <atomic>

#include "kernels/attention/attention_unit.h"

namespace forerun {
namespace {

struct Baseline;  // this file's copy of attention_unit.h

// The rows and heads of an attention unit.
void QuantizeHeads(const AttentionCodesArgs& args, int64_t unit, Lane& lane) {
  const AttentionUnitShape<Baseline> shape(args.attention, unit);
  const int64_t blocks = args.attention.layer.head_size / kActivationBlock;
  QuantizeInto(*args.kernels, args.attention.y, args.to,
               {shape.first_row(), shape.first_row() + shape.rows()},
               {shape.first_head() * blocks, (shape.first_head() + shape.heads()) * blocks}, lane);
}

}  // namespace

void AttentionCodes(const AttentionCodesArgs& args, WorkRange units, Lane& lane) {
  const int64_t parts = args.attention.split.parts;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    args.kernels->attention(args.attention, {unit, unit + 1}, lane);
    const int64_t merge_unit = unit / parts;
    if (parts > 1) {
      std::atomic_ref<int32_t> arrived(args.arrivals[merge_unit]);
      if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < parts) continue;
      arrived.store(0, std::memory_order_relaxed);
      args.kernels->attention_merge(args.attention, {merge_unit, merge_unit + 1}, lane);
    }
    QuantizeHeads(args, unit, lane);
  }
}

}  // namespace forerun
