#include "core/model/transformer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/status_macros.h"

namespace forerun {
namespace {

// Rows per chunk of an element-wise kernel: enough work to be worth a thread's while.
int64_t RowGrain(int64_t columns) { return std::max<int64_t>(1, 16384 / columns); }

}  // namespace

Transformer::Transformer(GgufFile file, ModelConfig config, ModelWeights weights, Numerics numerics,
                         int layout_id, const KvLayout& layout, const Kernels& kernels, ThreadPool& threads)
    : file_(std::move(file)),
      config_(std::move(config)),
      weights_(std::move(weights)),
      numerics_(numerics),
      layout_id_(layout_id),
      layout_(layout),
      kernels_(kernels),
      threads_(threads),
      global_rope_(config_.rotary, config_.rope_base, config_.rope_scale, weights_.rope_factors),
      local_rope_(config_.rotary, config_.traits.local_rope_base, 1, {}) {}

absl::StatusOr<ForwardResult> Transformer::Forward(const ForwardBatch& batch) {
  const auto start = std::chrono::steady_clock::now();
  ForwardResult result;
  result.rows.resize(batch.rows.size());
  if (batch.rows.empty()) return result;
  FORERUN_ASSIGN_OR_RETURN(const ForwardPlan plan,
                           PlanForward(batch, config_.vocab_size, config_.context_length));
  Resize(static_cast<int>(batch.rows.size()));
  global_rope_.Cover(plan.max_position + 1);
  if (config_.window != 0) local_rope_.Cover(plan.max_position + 1);
  Embed(batch);
  for (int layer = 0; layer < config_.layers; ++layer) {
    Attend(layer, plan);
    FeedForward(layer);
  }
  if (!plan.wanted_rows.empty()) FORERUN_RETURN_IF_ERROR(Head(batch, plan, result));
  ++counters_.forwards;
  counters_.rows += rows_;
  counters_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

void Transformer::Resize(int rows) {
  rows_ = rows;
  const auto grow = [](auto& values, std::size_t size) {
    if (values.size() < size) values.resize(size);
  };
  const std::size_t q_width = static_cast<std::size_t>(config_.heads) * config_.head_size;
  const std::size_t kv_width = static_cast<std::size_t>(config_.kv_heads) * config_.head_size;
  const std::size_t n = rows;
  grow(act_.stream, n * config_.width);
  grow(act_.normed, n * config_.width);
  grow(act_.q, n * q_width);
  grow(act_.k, n * kv_width);
  grow(act_.v, n * kv_width);
  grow(act_.attended, n * q_width);
  grow(act_.gate, n * config_.ffn_width);
  grow(act_.up, n * config_.ffn_width);
  grow(act_.added, n * config_.width);
  const std::size_t widest = std::max<std::size_t>(
      {q_width, static_cast<std::size_t>(config_.width), static_cast<std::size_t>(config_.ffn_width)});
  grow(act_.codes, n * widest);
  grow(act_.scales, n * (widest / 32 + 1));
  grow(act_.sums, n * (widest / 16 + 1));
}

void Transformer::Embed(const ForwardBatch& batch) {
  const GgufTensor& table = *weights_.embedding;
  const std::size_t row_bytes = RowBytes(table.type, config_.width);
  const float scale = config_.traits.scale_embeddings ? std::sqrt(static_cast<float>(config_.width)) : 1.0f;
  for (int row = 0; row < rows_; ++row) {
    float* x = act_.stream.data() + static_cast<std::size_t>(row) * config_.width;
    DequantizeRow(table.type, table.data.data() + batch.rows[row].token * row_bytes, config_.width, x);
    if (scale != 1.0f) {
      for (int i = 0; i < config_.width; ++i) x[i] *= scale;
    }
  }
}

void Transformer::Attend(int layer, const ForwardPlan& plan) {
  const LayerWeights& w = weights_.layers[layer];
  const bool global = config_.is_global(layer);
  const int64_t q_width = int64_t{config_.heads} * config_.head_size;
  const int64_t kv_width = int64_t{config_.kv_heads} * config_.head_size;
  Normalize(act_.stream, w.attention_norm, rows_, config_.width, act_.normed);
  Quantize(act_.normed, rows_, config_.width, {&w.q, &w.k, &w.v});
  Multiply(w.q, act_.normed, rows_, act_.q.data(), q_width);
  Multiply(w.k, act_.normed, rows_, act_.k.data(), kv_width);
  Multiply(w.v, act_.normed, rows_, act_.v.data(), kv_width);
  if (!w.q_norm.empty()) {
    Normalize(act_.q, w.q_norm, int64_t{rows_} * config_.heads, config_.head_size, act_.q);
    Normalize(act_.k, w.k_norm, int64_t{rows_} * config_.kv_heads, config_.head_size, act_.k);
  }
  Rotate(act_.q, config_.heads, plan, global);
  Rotate(act_.k, config_.kv_heads, plan, global);

  const KvLayerView view = layout_.layer(layer);
  threads_.Run(kernels_.kv_store,
               KvStoreArgs{view, act_.k.data(), act_.v.data(), kv_width, plan.slots.data()}, rows_,
               RowGrain(2 * kv_width));
  const AttentionArgs attention{.layer = view,
                                .heads = config_.heads,
                                .scale = config_.attention_scale,
                                .window = global ? 0 : config_.window,
                                .q = act_.q.data(),
                                .q_stride = q_width,
                                .y = act_.attended.data(),
                                .rows = plan.attention.data(),
                                .tiles = plan.tiles.data()};
  threads_.Run(kernels_.attention, attention, static_cast<int64_t>(plan.tiles.size()) * config_.kv_heads, 1);

  Quantize(act_.attended, rows_, q_width, {&w.output});
  Multiply(w.output, act_.attended, rows_, act_.added.data(), config_.width);
  AddToStream(w.post_attention_norm);
}

void Transformer::FeedForward(int layer) {
  const LayerWeights& w = weights_.layers[layer];
  Normalize(act_.stream, w.ffn_norm, rows_, config_.width, act_.normed);
  Quantize(act_.normed, rows_, config_.width, {&w.gate, &w.up});
  Multiply(w.gate, act_.normed, rows_, act_.gate.data(), config_.ffn_width);
  Multiply(w.up, act_.normed, rows_, act_.up.data(), config_.ffn_width);
  threads_.Run(kernels_.gate,
               GateArgs{config_.traits.activation, act_.gate.data(), act_.up.data(), act_.gate.data(),
                        config_.ffn_width},
               rows_, RowGrain(config_.ffn_width));
  Quantize(act_.gate, rows_, config_.ffn_width, {&w.down});
  Multiply(w.down, act_.gate, rows_, act_.added.data(), config_.width);
  AddToStream(w.post_ffn_norm);
}

void Transformer::AddToStream(const std::vector<float>& post_norm) {
  if (!post_norm.empty()) Normalize(act_.added, post_norm, rows_, config_.width, act_.added);
  threads_.Run(kernels_.add, AddArgs{act_.added.data(), act_.stream.data(), config_.width}, rows_,
               RowGrain(config_.width));
}

void Transformer::Normalize(const std::vector<float>& x, const std::vector<float>& gain, int64_t rows,
                            int64_t columns, std::vector<float>& y) {
  threads_.Run(kernels_.rms_norm, RmsNormArgs{x.data(), gain.data(), y.data(), columns, config_.norm_epsilon},
               rows, RowGrain(columns));
}

bool Transformer::UsesCodes(const LinearWeights& weights) const {
  return numerics_ == Numerics::kA8 && !IsFloat(weights.matrix.type);
}

void Transformer::Quantize(const std::vector<float>& x, int64_t rows, int64_t columns,
                           std::initializer_list<const LinearWeights*> users) {
  if (std::none_of(users.begin(), users.end(), [this](const LinearWeights* w) { return UsesCodes(*w); }))
    return;
  threads_.Run(kernels_.quantize_rows,
               QuantizeRowsArgs{x.data(), columns, act_.codes.data(), act_.scales.data(), act_.sums.data()},
               rows, RowGrain(columns));
}

void Transformer::Multiply(const LinearWeights& weights, const std::vector<float>& x, int64_t rows, float* y,
                           int64_t y_stride) {
  const MatmulArgs args{.weights = weights.matrix,
                        .rows = rows,
                        .x = x.data(),
                        .codes = act_.codes.data(),
                        .scales = act_.scales.data(),
                        .sums = act_.sums.data(),
                        .bias = weights.bias.empty() ? nullptr : weights.bias.data(),
                        .y = y,
                        .y_stride = y_stride};
  const int64_t groups = PackedGroups(weights.matrix.outputs);
  // Chunks small enough that a slow core can hand its share on, large enough to pay for laying out the
  // activations.
  const int64_t threads = threads_.num_threads();
  const int64_t grain =
      std::max<int64_t>({1, groups / (8 * threads), std::min<int64_t>(4, groups / threads)});
  threads_.Run(UsesCodes(weights) ? kernels_.matmul_a8 : kernels_.matmul_f32, args, groups, grain);
  counters_.weight_bytes_read +=
      PackedBytes(weights.matrix.type, weights.matrix.outputs, weights.matrix.columns);
}

void Transformer::Rotate(std::vector<float>& x, int heads, const ForwardPlan& plan, bool global) {
  const RopeTable& table = global ? global_rope_ : local_rope_;
  const RopeArgs args{.x = x.data(),
                      .row_stride = int64_t{heads} * config_.head_size,
                      .heads = heads,
                      .head_size = config_.head_size,
                      .rotary = config_.rotary,
                      .pairing = config_.traits.pairing,
                      .positions = plan.positions.data(),
                      .cosines = table.cosines(),
                      .sines = table.sines()};
  threads_.Run(kernels_.rope, args, rows_, RowGrain(args.row_stride));
}

}  // namespace forerun
