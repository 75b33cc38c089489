#include "core/engine/sequence.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/engine/target_rows.h"
#include "core/model/top_tokens.h"

namespace forerun {
namespace {

int ContextLeft(const Request& request, int context_length) {
  return context_length - static_cast<int>(request.prompt.size());
}

}  // namespace

Sequence::Sequence(Request request, KvPool& pool, int layout_id, int context_length)
    : request_(std::move(request)),
      tokens_(request_.prompt),
      table_(pool, layout_id),
      stop_(request_, std::min(request_.max_new_tokens, ContextLeft(request_, context_length)),
            ContextLeft(request_, context_length) < request_.max_new_tokens) {
  result_.id = request_.id;
}

void Sequence::Apply(const TokenTree& tree, const Verdict& verdict, std::span<const RowOutput> node_outputs,
                     const TappedRows& node_states, RoundRecord& record) {
  const int accepted = static_cast<int>(verdict.accepted.size());
  std::optional<FinishReason> reason;
  int parent = 0;  // the node whose row gave the next token
  for (int i = 0; i <= accepted && !reason; ++i) {
    const TokenId token = i < accepted ? tree.node(verdict.accepted[i]).token : verdict.next;
    if (request_.want_log_probs)
      result_.log_probs.push_back(LogProbability(node_outputs[parent].logits, token));
    if (i < accepted) parent = verdict.accepted[i];
    tokens_.push_back(token);
    result_.output.push_back(token);
    record.emitted.push_back(token);
    reason = stop_.Add(token);
  }
  const int emitted = static_cast<int>(record.emitted.size());
  record.accepted = std::min(emitted, accepted);
  record.truncated = accepted + 1 - emitted;
  record.bonus = verdict.bonus && record.truncated == 0;
  // The last emitted token stays without key and value, whether it came from the draft or from the target.
  const std::span<const int> committed = std::span(verdict.accepted).first(emitted - 1);
  if (evidence_top_k() > 0) KeepEvidence(tree, committed, node_outputs);
  std::vector<int> rows{0};
  rows.insert(rows.end(), committed.begin(), committed.end());
  CommitRows(rows, tree.is_chain(), node_states);

  ++result_.rounds;
  result_.drafted += record.drafted;
  result_.accepted += record.accepted;
  if (reason) {
    finished_ = true;
    result_.reason = *reason;
  }
}

void Sequence::CommitPrefill(const TappedRows& states) {
  std::vector<int> rows(table_.reserved());
  std::iota(rows.begin(), rows.end(), 0);
  CommitRows(rows, /*in_order=*/true, states);
}

// `in_order`: the rows are the first reserved ones, so that nothing needs to move.
void Sequence::CommitRows(std::span<const int> rows, bool in_order, const TappedRows& states) {
  if (!states.empty()) states.AddTo(features_, table_.committed(), rows);
  if (in_order) {
    table_.CommitFirst(static_cast<int>(rows.size()));
  } else {
    table_.Commit(rows);
  }
}

// Called once the emitted tokens are in tokens_ and before their keys and values are committed.
void Sequence::KeepEvidence(const TokenTree& tree, std::span<const int> committed,
                            std::span<const RowOutput> node_outputs) {
  evidence_.clear();
  for (int node = 0; node < tree.size(); ++node) {
    const TokenTree::Node& at = tree.node(node);
    const RowOutput& output = node_outputs[node];
    evidence_.push_back(
        {.token = at.token,
         .position = table_.committed() + at.depth,
         .parent = at.parent,
         .committed = node == 0 || std::find(committed.begin(), committed.end(), node) != committed.end(),
         .top = output.logits.empty() ? output.top : BestTokens(output.logits, evidence_top_k())});
  }
}

void Sequence::Fail(absl::Status status) {
  table_.Rollback();
  finished_ = true;
  result_.reason = FinishReason::kError;
  result_.status = std::move(status);
}

}  // namespace forerun
