// One decoder layer over a paged KV of its own: what EAGLE's heads consist of. Llama's layer (HF's layout of
// the heads: halves are paired), but for its input: the attention reads rows that may be wider than the
// stream.
#pragma once

#include <vector>

#include "core/kv/kv_layout.h"
#include "core/model/forward_plan.h"
#include "core/model/rope_table.h"
#include "drafters/heads/head_math.h"

namespace forerun {

struct DraftLayerShape {
  int width = 0;        // of the stream
  int input_width = 0;  // of what the attention reads
  int ffn_width = 0;
  int heads = 0, kv_heads = 0, head_size = 0;  // head_size: a multiple of 16
  float norm_epsilon = 0;
  float rope_base = 0, rope_scale = 1;
};

struct DraftLayerWeights {
  HeadMatrix q, k, v, output, gate, up, down;
  std::vector<float> ffn_norm;  // [width]
};

class DraftLayer {
 public:
  DraftLayer(const DraftLayerShape& shape, DraftLayerWeights weights, KvDtype dtype);

  const DraftLayerShape& shape() const { return shape_; }
  const KvLayout& layout() const { return layout_; }
  // Adds to `stream`, [rows, width], what the layer says of `input`, [rows, input_width]; the rows' keys and
  // values go into the plan's slots.
  void Run(const HeadMath& math, const ForwardPlan& plan, const float* input, float* stream);

 private:
  void Attend(const HeadMath& math, const ForwardPlan& plan, const float* input, float* stream);
  void FeedForward(const HeadMath& math, int64_t rows, float* stream);

  DraftLayerShape shape_;
  DraftLayerWeights weights_;
  KvLayout layout_;
  RopeTable rope_;
  // Reused from call to call.
  std::vector<float> q_, k_, v_, attended_, partials_, normed_, gate_, up_;
};

}  // namespace forerun
