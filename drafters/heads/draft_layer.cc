#include "drafters/heads/draft_layer.h"

#include <cmath>

#include "core/model/scratch.h"
#include "kernels/fused/gate_up.h"
#include "kernels/fused/qkv.h"

namespace forerun {

DraftLayer::DraftLayer(const DraftLayerShape& shape, DraftLayerWeights weights, KvDtype dtype)
    : shape_(shape),
      weights_(std::move(weights)),
      layout_({{.kv_heads = shape.kv_heads, .head_size = shape.head_size, .window = 0}}, dtype),
      rope_(shape.head_size, shape.rope_base, shape.rope_scale, {}) {}

void DraftLayer::Run(const HeadMath& math, const ForwardPlan& plan, const float* input, float* stream) {
  rope_.Cover(plan.max_position + 1);
  Attend(math, plan, input, stream);
  FeedForward(math, static_cast<int64_t>(plan.positions.size()), stream);
}

void DraftLayer::Attend(const HeadMath& math, const ForwardPlan& plan, const float* input, float* stream) {
  const int64_t rows = static_cast<int64_t>(plan.positions.size());
  const int64_t q_width = int64_t{shape_.heads} * shape_.head_size;
  const int64_t kv_width = int64_t{shape_.kv_heads} * shape_.head_size;
  const auto part = [&](const HeadMatrix& w, std::vector<float>& y, int64_t width) -> QkvPart {
    return {math.kernels().matmul_f32, math.Product(w, input, rows, Grown(y, rows * width)), nullptr};
  };
  const QkvArgs qkv{.kernels = &math.kernels(),
                    .q = part(weights_.q, q_, q_width),
                    .k = part(weights_.k, k_, kv_width),
                    .v = part(weights_.v, v_, kv_width),
                    .heads = shape_.heads,
                    .kv_heads = shape_.kv_heads,
                    .head_size = shape_.head_size,
                    .norm_epsilon = shape_.norm_epsilon,
                    .rope = {.head_size = shape_.head_size,
                             .rotary = shape_.head_size,
                             .pairing = RopePairing::kHalves,
                             .positions = plan.positions.data(),
                             .cosines = rope_.cosines(),
                             .sines = rope_.sines()},
                    .store = {.layer = layout_.layer(0), .slots = plan.slots.data()}};
  math.threads().Run(&Qkv, qkv, QkvUnits(qkv), 1);

  const int64_t tiles = static_cast<int64_t>(plan.tiles.size());
  AttentionArgs args;
  args.layer = layout_.layer(0);
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
  math.Multiply(weights_.output, attended_.data(), rows, stream, /*add=*/true);
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
