// The attention half of a layer.
#include <algorithm>

#include "core/model/scratch.h"
#include "core/model/transformer.h"
#include "kernels/fused/attention_codes.h"
#include "kernels/fused/qkv.h"

namespace forerun {

void Transformer::Attend(int layer, const ForwardPlan& plan) {
  const LayerWeights& w = weights_.layers[layer];
  const bool global = config_.is_global(layer);
  const int64_t q_width = int64_t{config_.heads} * config_.head_size;
  const KvLayerView view = layout_.layer(layer);
  const KvStoreArgs store{.layer = view, .slots = plan.slots.data()};
  NormalizeFor({&w.q, &w.k, &w.v}, act_.stream, w.attention_norm, rows_, fusion_.qkv, act_.normed);
  if (fusion_.qkv) {
    QueryKeyValue(w, Rope(plan, global), store);
  } else {
    QueryKeyValueUnfused(w, Rope(plan, global), store);
  }
  Prepare({&w.output}, rows_, q_width, act_.attended);
  AttentionArgs attention;
  attention.layer = view;
  attention.heads = config_.heads;
  attention.scale = config_.attention_scale;
  attention.window = global ? 0 : config_.window;
  attention.q = act_.q.data();
  attention.q_stride = q_width;
  attention.y = act_.attended.x.data();
  attention.rows = plan.attention.data();
  attention.tiles = plan.tiles.data();
  if (fusion_.attention) {
    LookAround(attention, static_cast<int64_t>(plan.tiles.size()));
  } else {
    LookAroundUnfused(attention, static_cast<int64_t>(plan.tiles.size()));
  }
  MultiplyIntoStream(w.output, act_.attended, w.post_attention_norm);
}

void Transformer::LookAround(AttentionArgs args, int64_t tiles) {
  args.split = ChooseAttentionSplit(args, tiles, threads_.num_threads());
  args.partials = Grown(act_.partials, AttentionPartialFloats(args, tiles));
  const bool whole_blocks = config_.head_size % kActivationBlock == 0;
  AttentionCodesArgs fused{.kernels = &kernels_,
                           .attention = args,
                           .to = {},
                           .arrivals = Grown(act_.arrivals, AttentionMergeUnits(args, tiles))};
  if (whole_blocks) fused.to = act_.attended.quantized();
  threads_.Run(&AttentionCodes, fused, AttentionUnits(args, tiles), 1);
  if (!whole_blocks) Quantize(act_.attended);
}

void Transformer::LookAroundUnfused(AttentionArgs args, int64_t tiles) {
  constexpr int64_t kTiles = 4;  // at a time: the scores of all would be many
  for (int64_t first = 0; first < tiles; first += kTiles, args.tiles += kTiles) {
    const int64_t count = std::min(kTiles, tiles - first);
    args.split = ChooseAttentionSplit(args, count, threads_.num_threads());
    args.partials = Grown(act_.partials, AttentionPartialFloats(args, count));
    args.scores = Grown(act_.scores, AttentionScoreFloats(args, count));
    for (const KernelFn<AttentionArgs> pass :
         {kernels_.attention_scores, kernels_.attention_softmax, kernels_.attention_values}) {
      threads_.Run(pass, args, AttentionUnits(args, count), 1);
    }
    if (args.split.parts > 1) {
      threads_.Run(kernels_.attention_merge, args, AttentionMergeUnits(args, count), 1);
    }
  }
  Quantize(act_.attended);
}

void Transformer::QueryKeyValue(const LayerWeights& w, const RopeArgs& rope, const KvStoreArgs& store) {
  const int64_t q_width = int64_t{config_.heads} * config_.head_size;
  const int64_t kv_width = int64_t{config_.kv_heads} * config_.head_size;
  const auto part = [&](const LinearWeights& weights, float* y, int64_t width,
                        const std::vector<float>& norm) -> QkvPart {
    Count(weights);
    return {MatmulFor(weights), Product(weights, act_.normed, rows_, y, width),
            norm.empty() ? nullptr : norm.data()};
  };
  const QkvArgs args{.kernels = &kernels_,
                     .q = part(w.q, act_.q.data(), q_width, w.q_norm),
                     .k = part(w.k, act_.k.data(), kv_width, w.k_norm),
                     .v = part(w.v, act_.v.data(), kv_width, {}),
                     .heads = config_.heads,
                     .kv_heads = config_.kv_heads,
                     .head_size = config_.head_size,
                     .norm_epsilon = config_.norm_epsilon,
                     .rope = rope,
                     .store = store};
  threads_.Run(&Qkv, args, QkvUnits(args), 1);
}

void Transformer::QueryKeyValueUnfused(const LayerWeights& w, const RopeArgs& rope,
                                       const KvStoreArgs& store) {
  const int64_t q_width = int64_t{config_.heads} * config_.head_size;
  const int64_t kv_width = int64_t{config_.kv_heads} * config_.head_size;
  Multiply(w.q, Product(w.q, act_.normed, rows_, act_.q.data(), q_width));
  Multiply(w.k, Product(w.k, act_.normed, rows_, act_.k.data(), kv_width));
  Multiply(w.v, Product(w.v, act_.normed, rows_, act_.v.data(), kv_width));
  if (!w.q_norm.empty()) {
    Normalize(act_.q.data(), w.q_norm, int64_t{rows_} * config_.heads, config_.head_size);
    Normalize(act_.k.data(), w.k_norm, int64_t{rows_} * config_.kv_heads, config_.head_size);
  }
  const auto rotate = [&](std::vector<float>& x, int heads) {
    RopeArgs args = rope;
    args.x = x.data();
    args.heads = heads;
    args.row_stride = int64_t{heads} * config_.head_size;
    threads_.Run(kernels_.rope, args, rows_, RowGrain(args.row_stride));
  };
  rotate(act_.q, config_.heads);
  rotate(act_.k, config_.kv_heads);
  KvStoreArgs all = store;
  all.keys = act_.k.data();
  all.values = act_.v.data();
  all.row_stride = kv_width;
  threads_.Run(kernels_.kv_store, all, rows_, RowGrain(2 * kv_width));
}

RopeArgs Transformer::Rope(const ForwardPlan& plan, bool global) const {
  const RopeTable& table = global ? global_rope_ : local_rope_;
  return {.head_size = config_.head_size,
          .rotary = config_.rotary,
          .pairing = config_.traits.pairing,
          .positions = plan.positions.data(),
          .cosines = table.cosines(),
          .sines = table.sines()};
}

}  // namespace forerun
