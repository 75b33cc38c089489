// One decoder layer over a paged KV of its own: what heads that go on from the target's states consist of.
// Llama's layer (HF's layout of the heads: halves are paired), but for its input: the attention reads rows
// that may be wider than the stream. Where its weights are there: norms of each head's q and k before the
// rotation (Qwen3), and a gate on what the attention says: its output times sigmoid(gate x) (Qwen3-Next).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/kv/kv_layout.h"
#include "core/model/forward_plan.h"
#include "core/model/rope_table.h"
#include "drafters/heads/head_files.h"
#include "drafters/heads/head_math.h"

namespace forerun {

struct DraftLayerShape {
  int width = 0;        // of the stream
  int input_width = 0;  // of what the attention reads
  int ffn_width = 0;
  int heads = 0, kv_heads = 0, head_size = 0;  // head_size: a multiple of 16
  int rotary = 0;                              // values of a head that turn: even, <= head_size
  float norm_epsilon = 1e-6f;
  float rope_base = 10000;
  float rope_scale = 1;  // positions are multiplied by it
};

struct DraftLayerWeights {
  HeadMatrix q, k, v, output, gate, up, down;
  std::vector<float> ffn_norm;            // [width]
  std::optional<HeadMatrix> output_gate;  // [heads * head_size, input width]
  std::vector<float> q_norm, k_norm;      // [head_size], or none
};

// From self_attn.{q,k,v,o}_proj, mlp.{gate,up,down}_proj and post_attention_layernorm under `prefix`, biases
// included where there are any; not q, where `with_q` is false. No norms of heads.
absl::StatusOr<DraftLayerWeights> LoadDraftLayer(HeadFiles& files, const std::string& prefix,
                                                 const DraftLayerShape& shape, bool with_q = true);
// Keys and values of so many such layers.
KvLayout DraftLayout(const DraftLayerShape& shape, int layers, KvDtype dtype);

class DraftLayer {
 public:
  // The only layer of its layout.
  DraftLayer(const DraftLayerShape& shape, DraftLayerWeights weights, KvDtype dtype)
      : DraftLayer(shape, std::move(weights), DraftLayout(shape, 1, dtype), 0) {}
  // Layer `index` of `layout`.
  DraftLayer(const DraftLayerShape& shape, DraftLayerWeights weights, const KvLayout& layout, int index);

  const DraftLayerShape& shape() const { return shape_; }
  const KvLayout& layout() const { return layout_; }
  // Adds to `stream`, [rows, width], what the layer says of `input`, [rows, input_width]; the rows' keys and
  // values go into the plan's slots.
  void Run(const HeadMath& math, const ForwardPlan& plan, const float* input, float* stream);
  // The keys and values of `input` alone: rows that others will see, and that see nothing themselves.
  void Remember(const HeadMath& math, const ForwardPlan& plan, const float* input);

 private:
  void Project(const HeadMath& math, const ForwardPlan& plan, const float* input, bool with_q);
  void GateOutput(const HeadMath& math, int64_t rows, const float* input);
  void Attend(const HeadMath& math, const ForwardPlan& plan, const float* input, float* stream);
  void FeedForward(const HeadMath& math, int64_t rows, float* stream);

  DraftLayerShape shape_;
  DraftLayerWeights weights_;
  KvLayout layout_;
  int index_;
  RopeTable rope_;
  // Reused from call to call.
  std::vector<float> q_, k_, v_, attended_, output_gate_, partials_, normed_, gate_, up_;
};

}  // namespace forerun
