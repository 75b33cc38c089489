// What a drafting head on a model's hidden states borrows of it, beside the states themselves
// (ForwardBatch::taps).
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/model/forward_batch.h"
#include "kernels/kernels.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

class Backbone {
 public:
  virtual ~Backbone() = default;
  virtual int width() const = 0;
  virtual int layers() const = 0;
  // x: [tokens, width], as they enter layer 0.
  virtual void Embed(std::span<const TokenId> tokens, float* x) const = 0;
  // What the model's head says of `hidden`, [rows, width] after the final norm: `wanted` of each row, with
  // its top_k and target; its other members mean nothing. In the model's numerics, so that a tap L + 1 gives
  // the logits of the forward that it was taken in.
  virtual absl::StatusOr<std::vector<RowOutput>> HeadOutputs(std::span<const float> hidden,
                                                             std::span<const ForwardRow> rows) = 0;
  virtual const Kernels& kernels() const = 0;
  virtual ThreadPool& threads() const = 0;
};

}  // namespace forerun
