// The multi-token-prediction layer that Qwen3-Next and Qwen3.5 are trained with (after DeepSeek-V3,
// arXiv:2412.19437): a recurrent head of one decoder layer of the target's own kind. Row i:
//   x = fc(norm(embedding of token i + 1), norm(feature i));  x = layer(x);  feature = norm(x)
// and the target's output matrix reads that feature. The first feature is the target's last state after its
// final norm (as vLLM and SGLang run it; "pre_fc_norm_hidden" comes on top of that).
// Tensors as in the published model folders, among the target's own: mtp.fc, mtp.pre_fc_norm_embedding,
// mtp.pre_fc_norm_hidden, mtp.layers.0.* with q_norm and k_norm, mtp.norm. Every norm's gain is 1 + its
// tensor. Of a head's rows of q_proj the first half is q and the second the gate on its output
// ("attn_output_gate"). config.json is the target's: "model_type" qwen3_next, qwen3_5 or qwen3_5_text, where
// a "text_config" holds the shape; "partial_rotary_factor" is 0.25 where it is absent. A mixture of experts,
// several layers and embeddings of the head's own are refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/backbone.h"
#include "drafters/heads/draft_layer.h"
#include "drafters/heads/head_files.h"
#include "drafters/heads/recurrent_head.h"

namespace forerun {

class MtpHead final : public RecurrentHead {
 public:
  // `backbone` outlives the head. Keys and values are kept as `dtype`.
  static absl::StatusOr<std::unique_ptr<MtpHead>> Load(HeadFiles& files, Backbone& backbone, int target_vocab,
                                                       KvDtype dtype);

  int width() const override { return backbone_->width(); }
  const KvLayout& layout() const override { return layer_->layout(); }
  const std::vector<int>& taps() const override { return taps_; }
  std::vector<float> TargetFeatures(const Features& states, int first_row, int rows) const override {
    return JoinStates(states, first_row, rows);
  }
  absl::StatusOr<Result> Forward(const ForwardBatch& batch, std::span<const float> features,
                                 int context_length) override;

 private:
  class Loader;
  MtpHead(Backbone& backbone, int target_vocab)
      : backbone_(&backbone), math_(backbone), target_vocab_(target_vocab), taps_({backbone.layers() + 1}) {}

  Backbone* backbone_;
  HeadMath math_;
  int target_vocab_;
  std::vector<int> taps_;
  HeadMatrix fc_;
  std::vector<float> embedding_norm_, hidden_norm_, input_norm_, output_norm_;  // [width]
  std::unique_ptr<DraftLayer> layer_;
};

}  // namespace forerun
