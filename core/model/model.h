// Tokens in, rows of logits out. Everything that speculation needs of a model, and nothing more.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/kv/kv_layout.h"
#include "core/model/backbone.h"
#include "core/model/forward_batch.h"
#include "core/model/shortlist.h"

namespace forerun {

class Model {
 public:
  // Since the model was made; never decreasing.
  struct Counters {
    int64_t forwards = 0;
    int64_t rows = 0;               // rows computed
    int64_t weight_bytes_read = 0;  // packed weight bytes streamed
    double seconds = 0;             // inside Forward
  };

  virtual ~Model() = default;
  virtual int vocab_size() const = 0;
  virtual int context_length() const = 0;
  virtual int num_layers() const = 0;    // that a LayerSubset names
  virtual int kv_layout_id() const = 0;  // in the pool that the model was made with
  // Computes every row, writing the rows' keys and values into the reserved slots. A row's output depends on
  // its own context alone, bit for bit.
  virtual absl::StatusOr<ForwardResult> Forward(const ForwardBatch& batch) = 0;
  virtual Counters counters() const = 0;
  // Null where the model has no hidden states: no head can draft for it.
  virtual Backbone* backbone() { return nullptr; }
  // For ForwardBatch::shortlist. `ids`: ascending, at least one, all in the vocabulary.
  virtual std::shared_ptr<const Shortlist> MakeShortlist(std::vector<TokenId> ids) {
    auto shortlist = std::make_shared<Shortlist>();
    shortlist->ids = std::move(ids);
    shortlist->vocab_size = vocab_size();
    return shortlist;
  }
};

}  // namespace forerun
