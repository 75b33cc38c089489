// The head of EAGLE-1/2 (Li et al. 2024, arXiv:2401.15077) and of EAGLE-3 (Li et al. 2025, arXiv:2503.01840):
// one decoder layer that goes on from the target's hidden states and the embeddings of the tokens.
//   EAGLE-1/2  x = fc(embedding, feature), the feature the target's last state after the final norm; the
//   layer has
//              no input norm; logits by the target's output matrix; the output is the next feature.
//   EAGLE-3    the feature is fc of three states of the target (each normed, or all of them, where the file
//   has
//              such norms); the layer reads the normed embedding beside the normed feature; logits by the
//              head's own norm and output matrix over its own words; the output before that norm is the next
//              feature, and meets no fc.
// Which of both a file is, its tensors say.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/model/backbone.h"
#include "drafters/heads/draft_layer.h"
#include "drafters/heads/eagle_config.h"
#include "drafters/heads/head_files.h"
#include "drafters/heads/head_math.h"
#include "drafters/heads/own_vocabulary.h"
#include "drafters/heads/recurrent_head.h"

namespace forerun {

class EagleHead final : public RecurrentHead {
 public:
  // `backbone` outlives the head. Keys and values are kept as `dtype`.
  static absl::StatusOr<EagleHead> Load(HeadFiles files, Backbone& backbone, int target_vocab, KvDtype dtype);

  bool is_eagle3() const { return is_eagle3_; }
  int width() const override { return config_.width; }
  const KvLayout& layout() const override { return layer_->layout(); }  // one layer
  const std::vector<int>& taps() const override { return config_.taps; }
  std::vector<float> TargetFeatures(const Features& states, int first_row, int rows) const override;
  absl::StatusOr<Result> Forward(const ForwardBatch& batch, std::span<const float> features,
                                 int context_length) override;

 private:
  class Loader;
  EagleHead(Backbone& backbone, int target_vocab)
      : backbone_(&backbone), math_(backbone), target_vocab_(target_vocab) {}

  void Embed(const ForwardBatch& batch, float* x) const;
  absl::StatusOr<std::vector<RowOutput>> Outputs(const ForwardBatch& batch, const std::vector<float>& stream);

  Backbone* backbone_;
  HeadMath math_;
  int target_vocab_;
  std::optional<HeadFiles> files_;  // the embedding stays in them
  EagleConfig config_;
  bool is_eagle3_ = false;
  std::optional<HeadRows> embedding_;  // the head's own, or the target's
  HeadMatrix fc_;
  std::vector<std::vector<float>> state_norms_;      // of each tapped state, or none
  std::vector<float> joined_norm_;                   // of the states together, or empty
  std::vector<float> embedding_norm_, hidden_norm_;  // EAGLE-3
  std::vector<float> output_norm_;                   // EAGLE-3, or empty
  OwnVocabulary vocabulary_;                         // EAGLE-3
  std::unique_ptr<DraftLayer> layer_;
};

}  // namespace forerun
