#include "core/model/transformer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/model/scratch.h"

namespace forerun {
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
  FORERUN_RETURN_IF_ERROR(CheckTaps(batch));
  result.taps.resize(batch.taps.size());
  Resize(static_cast<int>(batch.rows.size()));
  global_rope_.Cover(plan.max_position + 1);
  if (config_.window != 0) local_rope_.Cover(plan.max_position + 1);
  std::vector<TokenId> tokens;
  for (const ForwardRow& row : batch.rows) tokens.push_back(row.token);
  Embed(tokens, act_.stream.data());
  const LayerSubset* const subset = batch.layers;
  FORERUN_CHECK(subset == nullptr || (std::ssize(subset->attention) == config_.layers &&
                                      std::ssize(subset->feed_forward) == config_.layers));
  for (int layer = 0; layer < config_.layers; ++layer) {
    KeepTap(batch, layer, result);
    if (subset == nullptr || subset->attention[layer]) Attend(layer, plan);
    if (subset == nullptr || subset->feed_forward[layer]) FeedForward(layer);
  }
  KeepTap(batch, config_.layers, result);
  KeepTap(batch, config_.layers + 1, result);
  if (!plan.wanted_rows.empty()) FORERUN_RETURN_IF_ERROR(Head(batch, plan, result));
  ++counters_.forwards;
  counters_.rows += rows_;
  counters_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

void Transformer::Resize(int rows) {
  rows_ = rows;
  const int64_t kv_width = int64_t{config_.kv_heads} * config_.head_size;
  const int64_t n = rows;
  Grown(act_.stream, n * config_.width);
  Grown(act_.q, n * config_.heads * config_.head_size);
  Grown(act_.k, n * kv_width);
  Grown(act_.v, n * kv_width);
  Grown(act_.up, n * config_.ffn_width);
  Grown(act_.added, n * config_.width);
}

void Transformer::Embed(std::span<const TokenId> tokens, float* x) const {
  const GgufTensor& table = *weights_.embedding;
  const std::size_t row_bytes = RowBytes(table.type, config_.width);
  const float scale = config_.traits.scale_embeddings ? std::sqrt(static_cast<float>(config_.width)) : 1.0f;
  for (const TokenId token : tokens) {
    DequantizeRow(table.type, table.data.data() + token * row_bytes, config_.width, x);
    if (scale != 1.0f) {
      for (int i = 0; i < config_.width; ++i) x[i] *= scale;
    }
    x += config_.width;
  }
}

}  // namespace forerun
