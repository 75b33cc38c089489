// One request on its way: its tokens, its pages, its drafter's state and what has been counted so far.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/features.h"
#include "core/engine/request.h"
#include "core/engine/round_record.h"
#include "core/engine/stop_checker.h"
#include "core/kv/block_table.h"
#include "core/model/forward_batch.h"
#include "core/tree/token_tree.h"

namespace forerun {

class Sequence {
 public:
  Sequence(Request request, KvPool& pool, int layout_id, int context_length);
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  const Request& request() const { return request_; }
  std::span<const TokenId> tokens() const { return tokens_; }
  BlockTable& table() { return table_; }
  // Every token but the last has its key and value: the last one is the root of the next tree.
  int prefill_left() const { return static_cast<int>(tokens_.size()) - 1 - table_.committed(); }
  bool speculates() const { return request_.drafter != nullptr && request_.num_speculative_tokens > 0; }
  // Deepest node worth proposing: one token of what is left comes from the target itself.
  int max_depth() const { return stop_.remaining() - 1; }
  // Most nodes worth proposing.
  int budget() const {
    return request_.drafter->chains_only() || max_depth() <= 0
               ? std::min(request_.num_speculative_tokens, max_depth())
               : request_.num_speculative_tokens;
  }
  // Whether what is left to write kept `tree` from growing: a chain's K, or the depth of a tree.
  bool length_limits(const TokenTree& tree) const {
    return budget() < request_.num_speculative_tokens ||
           (!tree.is_chain() && tree.max_depth() >= max_depth());
  }
  int evidence_top_k() const { return speculates() ? request_.drafter->evidence_top_k() : 0; }
  std::span<const EvidenceRow> evidence() const { return evidence_; }  // of the last verified tree
  std::vector<int> taps() const { return speculates() ? request_.drafter->taps() : std::vector<int>(); }
  // Of the rows committed since the last ClearFeatures(); null where there are none.
  const Features* features() const { return features_.rows > 0 ? &features_ : nullptr; }
  void ClearFeatures() { features_ = Features(); }

  // Emits the verdict's tokens up to the one that ends the request, commits their keys and values, and fills
  // the record's counts. `node_outputs`: [nodes] of the forward, for log-probabilities; `node_states`: of the
  // nodes.
  void Apply(const TokenTree& tree, const Verdict& verdict, std::span<const RowOutput> node_outputs,
             const TappedRows& node_states, RoundRecord& record);
  // Commits the reserved rows, which are the prompt's next ones.
  void CommitPrefill(const TappedRows& states);
  void AddPrefillSeconds(double seconds) { result_.prefill_seconds += seconds; }
  void AddDecodeSeconds(double seconds) { result_.decode_seconds += seconds; }
  void Fail(absl::Status status);

  bool finished() const { return finished_; }
  int rounds() const { return result_.rounds; }
  RequestResult TakeResult() { return std::move(result_); }

  std::unique_ptr<DrafterState> drafter_state;

 private:
  void CommitRows(std::span<const int> rows, bool in_order, const TappedRows& states);
  void KeepEvidence(const TokenTree& tree, std::span<const int> committed,
                    std::span<const RowOutput> node_outputs);

  Request request_;
  std::vector<TokenId> tokens_;  // prompt, then output
  BlockTable table_;
  StopChecker stop_;
  RequestResult result_;
  std::vector<EvidenceRow> evidence_;
  Features features_;
  bool finished_ = false;
};

}  // namespace forerun
