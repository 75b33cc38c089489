#include "drafters/heads/draft_layer.h"

#include <cmath>

#include "core/base/status_macros.h"
#include "core/model/scratch.h"
#include "kernels/fused/gate_up.h"
#include "kernels/fused/qkv.h"
#include "kernels/simd/exp.h"

namespace forerun {

absl::StatusOr<DraftLayerWeights> LoadDraftLayer(HeadFiles& files, const std::string& prefix,
                                                 const DraftLayerShape& shape, bool with_q) {
  const int64_t width = shape.width, input = shape.input_width;
  const int64_t q_width = int64_t{shape.heads} * shape.head_size;
  const int64_t kv_width = int64_t{shape.kv_heads} * shape.head_size;
  const auto matrix = [&](const char* name, int64_t outputs, int64_t columns) {
    return files.MatrixWithBias(prefix + name, outputs, columns);
  };
  DraftLayerWeights weights;
  if (with_q) {
    FORERUN_ASSIGN_OR_RETURN(weights.q, matrix("self_attn.q_proj", q_width, input));
  }
  FORERUN_ASSIGN_OR_RETURN(weights.k, matrix("self_attn.k_proj", kv_width, input));
  FORERUN_ASSIGN_OR_RETURN(weights.v, matrix("self_attn.v_proj", kv_width, input));
  FORERUN_ASSIGN_OR_RETURN(weights.output, matrix("self_attn.o_proj", width, q_width));
  FORERUN_ASSIGN_OR_RETURN(weights.gate, matrix("mlp.gate_proj", shape.ffn_width, width));
  FORERUN_ASSIGN_OR_RETURN(weights.up, matrix("mlp.up_proj", shape.ffn_width, width));
  FORERUN_ASSIGN_OR_RETURN(weights.down, matrix("mlp.down_proj", width, shape.ffn_width));
  FORERUN_ASSIGN_OR_RETURN(weights.ffn_norm, files.Vector(prefix + "post_attention_layernorm.weight", width));
  return weights;
}

KvLayout DraftLayout(const DraftLayerShape& shape, int layers, KvDtype dtype) {
  const KvLayout::Layer layer{.kv_heads = shape.kv_heads, .head_size = shape.head_size, .window = 0};
  return {std::vector(layers, layer), dtype};
}

DraftLayer::DraftLayer(const DraftLayerShape& shape, DraftLayerWeights weights, const KvLayout& layout,
                       int index)
    : shape_(shape),
      weights_(std::move(weights)),
      layout_(layout),
      index_(index),
      rope_(shape.rotary, shape.rope_base, shape.rope_scale, {}) {}

void DraftLayer::Run(const HeadMath& math, const ForwardPlan& plan, const float* input, float* stream) {
  Project(math, plan, input, /*with_q=*/true);
  Attend(math, plan, input, stream);
  FeedForward(math, static_cast<int64_t>(plan.positions.size()), stream);
}

void DraftLayer::Remember(const HeadMath& math, const ForwardPlan& plan, const float* input) {
  Project(math, plan, input, /*with_q=*/false);
}

void DraftLayer::Project(const HeadMath& math, const ForwardPlan& plan, const float* input, bool with_q) {
  rope_.Cover(plan.max_position + 1);
  const int64_t rows = static_cast<int64_t>(plan.positions.size());
  const auto part = [&](const HeadMatrix& w, std::vector<float>& y,
                        const std::vector<float>& norm) -> QkvPart {
    return {math.kernels().matmul_f32, math.Product(w, input, rows, Grown(y, rows * w.matrix.outputs)),
            norm.empty() ? nullptr : norm.data()};
  };
  const QkvArgs qkv{.kernels = &math.kernels(),
                    .q = part(weights_.q, q_, weights_.q_norm),
                    .k = part(weights_.k, k_, weights_.k_norm),
                    .v = part(weights_.v, v_, {}),
                    .heads = with_q ? shape_.heads : 0,
                    .kv_heads = shape_.kv_heads,
                    .head_size = shape_.head_size,
                    .norm_epsilon = shape_.norm_epsilon,
                    .rope = {.head_size = shape_.head_size,
                             .rotary = shape_.rotary,
                             .pairing = RopePairing::kHalves,
                             .positions = plan.positions.data(),
                             .cosines = rope_.cosines(),
                             .sines = rope_.sines()},
                    .store = {.layer = layout_.layer(index_), .slots = plan.slots.data()}};
  math.threads().Run(&Qkv, qkv, QkvUnits(qkv), 1);
}

void DraftLayer::Attend(const HeadMath& math, const ForwardPlan& plan, const float* input, float* stream) {
  const int64_t rows = static_cast<int64_t>(plan.positions.size());
  const int64_t q_width = int64_t{shape_.heads} * shape_.head_size;
  const int64_t tiles = static_cast<int64_t>(plan.tiles.size());
  AttentionArgs args;
  args.layer = layout_.layer(index_);
  args.heads = shape_.heads;
  args.scale = 1 / std::sqrt(static_cast<float>(shape_.head_size));
  args.q = q_.data();
  args.q_stride = q_width;
  args.y = Grown(attended_, rows * q_width);
  args.rows = plan.attention.data();
  args.tiles = plan.tiles.data();
  args.split = ChooseAttentionSplit(args, tiles, math.threads().num_threads());
  args.partials = Grown(partials_, AttentionPartialFloats(args, tiles));
  math.threads().Run(math.kernels().attention, args, AttentionUnits(args, tiles), 1);
  if (args.split.parts > 1) {
    math.threads().Run(math.kernels().attention_merge, args, AttentionMergeUnits(args, tiles), 1);
  }
  if (weights_.output_gate) GateOutput(math, rows, input);
  math.Multiply(weights_.output, attended_.data(), rows, stream, /*add=*/true);
}

void DraftLayer::GateOutput(const HeadMath& math, int64_t rows, const float* input) {
  const int64_t values = rows * weights_.output_gate->matrix.outputs;
  math.Multiply(*weights_.output_gate, input, rows, Grown(output_gate_, values));
  for (int64_t i = 0; i < values; ++i) attended_[i] /= 1 + Exp(-output_gate_[i]);
}

void DraftLayer::FeedForward(const HeadMath& math, int64_t rows, float* stream) {
  float* const normed = Grown(normed_, rows * shape_.width);
  math.Normalize(stream, weights_.ffn_norm, shape_.norm_epsilon, rows, normed);
  float* const gate = Grown(gate_, rows * shape_.ffn_width);
  const GateUpArgs args{.kernels = &math.kernels(),
                        .gate_matmul = math.kernels().matmul_f32,
                        .up_matmul = math.kernels().matmul_f32,
                        .gate = math.Product(weights_.gate, normed, rows, gate),
                        .up = math.Product(weights_.up, normed, rows, Grown(up_, rows * shape_.ffn_width)),
                        .activation = Activation::kSilu,
                        .to = {}};
  math.threads().Run(&GateUp, args, GateUpUnits(args), 1);
  math.Multiply(weights_.down, gate, rows, stream, /*add=*/true);
}

}  // namespace forerun
