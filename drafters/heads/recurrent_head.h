// A head that goes on from the target's hidden states: row i joins the feature of position i with token i + 1
// and guesses token i + 2; beyond the target's rows it reads the features that it made itself. Positions are
// those of the features: the first row is at 0.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/engine/features.h"
#include "core/kv/kv_layout.h"
#include "core/model/forward_batch.h"

namespace forerun {

class RecurrentHead {
 public:
  struct Result {
    std::vector<RowOutput> rows;  // [batch rows]
    std::vector<float> features;  // [batch rows, width()]: what each row made
  };

  virtual ~RecurrentHead() = default;
  virtual int width() const = 0;               // of a feature
  virtual const KvLayout& layout() const = 0;  // of its keys and values
  virtual const std::vector<int>& taps() const = 0;
  // [rows, width()]: the target's states as features.
  virtual std::vector<float> TargetFeatures(const Features& states, int first_row, int rows) const = 0;
  // A row's token is the one after its position; `features`: [batch rows, width()], of the target or of the
  // rows' parents.
  virtual absl::StatusOr<Result> Forward(const ForwardBatch& batch, std::span<const float> features,
                                         int context_length) = 0;
};

}  // namespace forerun
