// An exact toy model: its logits are log P[last tokens], and it learns those tokens only from the KV slots of
// its block table. A slot that is stale, was moved wrongly or belongs to a rejected row changes the answer or
// is an error. The attention of each layer adds one token to what is seen; feed-forward layers do nothing.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "core/kv/kv_pool.h"
#include "core/model/context_table.h"
#include "core/model/model.h"

namespace forerun {

class TableModel final : public Model {
 public:
  TableModel(KvPool& pool, ContextTable table, int context_length = 4096);

  int vocab_size() const override { return table_.vocab_size(); }
  int context_length() const override { return context_length_; }
  int num_layers() const override { return table_.order(); }
  int kv_layout_id() const override { return kv_layout_id_; }
  // InternalError where a slot of the context does not hold the position that it should.
  absl::StatusOr<ForwardResult> Forward(const ForwardBatch& batch) override;
  Counters counters() const override { return counters_; }

  const ContextTable& table() const { return table_; }
  // log P as the model gives it: [vocab], minus infinity where P is 0.
  std::vector<float> Logits(std::span<const TokenId> context) const;

 private:
  absl::Status ForwardSegmentRows(const ForwardBatch& batch, const ForwardSegment& segment,
                                  std::ptrdiff_t seen, ForwardResult& result) const;
  // Up to the reserved row `row`, read back from the slots.
  absl::StatusOr<std::vector<TokenId>> ReadContext(const BlockTable& table, std::span<const int> parents,
                                                   int row, int depth) const;
  RowOutput Output(const ForwardRow& row, std::span<const TokenId> context, const Shortlist* shortlist) const;

  ContextTable table_;
  int context_length_;
  int kv_layout_id_;
  KvLayerView layer_;
  Counters counters_;
};

}  // namespace forerun
