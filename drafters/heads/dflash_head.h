// DFlash's drafter (Chen et al. 2026, arXiv:2602.06036): a few decoder layers of Qwen3's kind fill in a whole
// block of tokens at once. A block is the last token of the text, then masks; it is embedded and judged by
// the target's own matrices, and what row j says is meant for its own position. Within the block every row
// sees every other. Before it, every layer reads keys and values of the target's states at all earlier
// positions: norm(fc(states of some layers, side by side)), without the layer's input norm. Tensors: fc,
// hidden_norm, norm, layers.{i}.self_attn.{q,k,v,o}_proj, .q_norm, .k_norm, .mlp.*, and two norms a layer.
// config.json: the shape of a layer, num_hidden_layers, block_size (there or in dflash_config), and
// dflash_config {mask_token_id, target_layer_ids}: an id names the state that leaves its layer, so the tap is
// one more. Refused: windows (layer_types), the last layer's state (which writers take before or after the
// final norm), and what other drafters of the family add.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/backbone.h"
#include "drafters/heads/draft_layer.h"
#include "drafters/heads/head_files.h"
#include "drafters/heads/head_math.h"

namespace forerun {

class DflashHead {
 public:
  // `backbone` outlives the head. Keys and values are kept as `dtype`.
  static absl::StatusOr<std::unique_ptr<DflashHead>> Load(HeadFiles& files, Backbone& backbone,
                                                          int target_vocab, KvDtype dtype);

  const KvLayout& layout() const { return layout_; }
  const std::vector<int>& taps() const { return taps_; }
  int block_size() const { return block_size_; }  // the last token included
  TokenId mask_token() const { return mask_token_; }
  // Keeps what later blocks read of committed rows. `states`: [batch rows, taps * width], as JoinStates has
  // them.
  absl::Status Remember(const ForwardBatch& batch, std::span<const float> states, int context_length);
  // Each segment a block right behind its table's committed rows, which were remembered; not causal, each row
  // the child of the one before it. [batch rows]
  absl::StatusOr<std::vector<RowOutput>> Guess(const ForwardBatch& batch, int context_length);

 private:
  class Loader;
  struct Layer {
    std::vector<float> input_norm;  // [width]
    DraftLayer layer;
  };
  DflashHead(Backbone& backbone, int target_vocab)
      : backbone_(&backbone), math_(backbone), target_vocab_(target_vocab) {}

  Backbone* backbone_;
  HeadMath math_;
  int target_vocab_;
  KvLayout layout_;
  std::vector<int> taps_;
  int block_size_ = 0;
  TokenId mask_token_ = 0;
  float norm_epsilon_ = 0;
  HeadMatrix fc_;
  std::vector<float> hidden_norm_, output_norm_;  // [width]
  std::vector<Layer> layers_;
};

}  // namespace forerun
