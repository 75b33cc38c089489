// The heads of Hydra (Ankner et al. 2024, arXiv:2402.05109), "mlp" architecture: as Medusa's, but head i
// reads the target's hidden state before the root beside the embeddings of the root and of the i tokens
// drafted after it, in that order. Head i is r(x) + silu(W x + b) of the joined input, [width * (i + 2)] ->
// [width]; then blocks x + silu(W x + b); then an output matrix of its own, or the target's.
// Tensors as in the published state dict (hydra_lm_head.pt, converted): hydra_mlp.{i}.0.linear and
// .res_connection, hydra_mlp.{i}.{j}.linear, hydra_lm_head.{i}, each .weight and .bias (where there is one).
// Blocks from the second on are one module listed several times; where a writer left out the copies,
// "hydra_num_layers" of config.json counts them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/model/backbone.h"
#include "drafters/heads/head_files.h"
#include "drafters/heads/head_math.h"
#include "drafters/heads/own_vocabulary.h"

namespace forerun {

class HydraHead {
 public:
  // `backbone` outlives the head. InvalidArgument in one line for another architecture.
  static absl::StatusOr<HydraHead> Load(HeadFiles& files, Backbone& backbone, int target_vocab);

  int num_heads() const { return static_cast<int>(heads_.size()); }
  int tap() const { return tap_; }  // the state it reads (ForwardBatch::taps)
  int width() const { return backbone_->width(); }
  // What head `head` says of each row of `inputs`, [rows, width * (head + 2)]: `wanted` of each.
  absl::StatusOr<std::vector<RowOutput>> Outputs(int head, std::span<const float> inputs,
                                                 std::span<const ForwardRow> wanted) const;

 private:
  struct Head {
    HeadMatrix residual, first;
    std::vector<HeadMatrix> blocks;
    int repeats = 1;                          // of the last block
    std::optional<OwnVocabulary> vocabulary;  // none: the target's
  };
  class Loader;
  HydraHead(Backbone& backbone, std::string path)
      : backbone_(&backbone), math_(backbone), path_(std::move(path)) {}

  Backbone* backbone_;
  HeadMath math_;
  std::string path_;
  std::vector<Head> heads_;
  int tap_ = 0;
};

}  // namespace forerun
