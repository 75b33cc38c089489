// What one call of a model computes: flat rows of several sequences. Prefill, chunked prefill, decode, chain
// and tree are the same thing with different parents, and may be mixed in one batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/kv/block_table.h"
#include "core/model/layer_subset.h"
#include "core/model/shortlist.h"

namespace forerun {

enum class WantedOutput : uint8_t {
  kNone,         // the row only fills the KV
  kArgmax,       // RowOutput::argmax and best_logit
  kBestLogProb,  // those, and RowOutput::log_prob of the best
  kTopK,         // RowOutput::top, argmax and best_logit
  kTopKLogProb,  // those, and RowOutput::log_prob of the best
  kLogProbOf,    // RowOutput::log_prob of `target`
  kFull,         // RowOutput::logits
};

struct ForwardRow {
  TokenId token = 0;
  int32_t parent = -1;  // the reserved row that it follows; -1: follows the committed context
  WantedOutput wanted = WantedOutput::kNone;
  TokenId target = 0;   // for kLogProbOf
  int32_t top_k = 0;    // for kTopK and kTopKLogProb: at least 1
  bool tapped = false;  // ForwardResult::taps keeps its hidden states
};

// Rows of one sequence. The caller has reserved a slot for each (row i writes the i-th reserved slot). Row
// i's position is committed() + its depth. Parents come before children. A tree may be computed in parts: the
// caller extends the reservation, and row i then writes the slot after the `written` ones and those of the
// rows before it.
struct ForwardSegment {
  BlockTable* table = nullptr;
  int32_t first_row = 0;
  int32_t num_rows = 0;
  bool causal = true;  // row i follows row i - 1; otherwise `parent` says
  std::span<const int32_t> written =
      {};  // parents of the reserved rows that earlier forwards wrote; not causal

  int reserved_row(int row) const { return static_cast<int>(written.size()) + row; }
};

struct ForwardBatch {
  std::vector<ForwardRow> rows;
  std::vector<ForwardSegment> segments;
  // Null: the whole vocabulary. Otherwise made by this model, and only its words have logits: the others are
  // as if theirs were minus infinity. A row that wants kLogProbOf is a broken invariant then.
  const Shortlist* shortlist = nullptr;
  // Which hidden states are kept of tapped rows, of a model with L layers: i < L: the residual stream as it
  // enters layer i; L: before the final norm; L + 1: after it, what the head reads. InvalidArgument where the
  // model has no such state. Changes no bit of any other result.
  std::vector<int> taps = {};
  const LayerSubset* layers = nullptr;  // null: all layers run
};

struct ScoredToken {
  TokenId token = 0;
  float logit = 0;
  friend bool operator==(const ScoredToken&, const ScoredToken&) = default;
};

struct RowOutput {
  TokenId argmax = -1;  // ties: the lowest id
  float best_logit = 0;
  double log_prob = 0;           // natural log, of the unwarped distribution
  std::vector<float> logits;     // [vocab] for kFull; minus infinity outside the shortlist
  std::vector<ScoredToken> top;  // for kTopK and kTopKLogProb: best first; ties: lower ids first
};

struct ForwardResult {
  std::vector<RowOutput> rows;           // [batch rows]
  std::vector<std::vector<float>> taps;  // [batch taps], each [tapped rows in the batch's order, width]
};

}  // namespace forerun
