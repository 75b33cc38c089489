// The heads of Medusa: head i guesses the token i + 2 places after a position from the target's last hidden
// state there (the target itself knows the next one). A head is some blocks x + silu(W x + b), then an output
// matrix of its own or the target's. Four layouts of files hold them:
//   first version   {i}.{j}.linear.weight, .bias; {i}.{layers}.weight the output matrix
//   legacy trainer  {i}.{j}.linear.weight, .bias alone: the target's output matrix
//   Medusa-2        either of these under "medusa_head.", among the tensors of the target
//   vLLM            blocks.{i}.layers.{j}.weight, .bias (may be absent); lm_heads.{i}.weight, or
//   lm_head.weight
//                   for all, or none; token_map where the words are fewer than the target's
// How many heads there are, the tensors say: "medusa_num_heads" of published configs is not to be relied on.
// Published blocks beyond the first of a head are the first one again (one module listed several times);
// where a writer left out the copies, the first one stands for them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/model/backbone.h"
#include "drafters/heads/head_files.h"
#include "drafters/heads/head_math.h"
#include "drafters/heads/own_vocabulary.h"

namespace forerun {

class MedusaHead {
 public:
  // `backbone` outlives the head.
  static absl::StatusOr<MedusaHead> Load(HeadFiles& files, Backbone& backbone, int target_vocab);

  int num_heads() const { return static_cast<int>(heads_.size()); }
  // What head `head` says of each row of `hidden`, [rows, width]: `wanted` of each.
  absl::StatusOr<std::vector<RowOutput>> Outputs(int head, std::span<const float> hidden,
                                                 std::span<const ForwardRow> wanted) const;

 private:
  struct Head {
    std::vector<HeadMatrix> blocks;
    int repeats = 1;      // of the last block
    int vocabulary = -1;  // of vocabularies_; -1: the target's
  };
  class Loader;
  MedusaHead(Backbone& backbone, std::string path)
      : backbone_(&backbone), math_(backbone), path_(std::move(path)) {}

  Backbone* backbone_;
  HeadMath math_;
  std::string path_;
  std::vector<Head> heads_;
  std::vector<OwnVocabulary> vocabularies_;
};

}  // namespace forerun
