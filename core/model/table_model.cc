#include "core/model/table_model.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/model/top_tokens.h"
#include "core/model/tree_parents.h"

namespace forerun {
namespace {

// A slot holds its token and its position, once in the keys and once in the values.
struct Content {
  float token = -1;
  float position = -1;
  friend bool operator==(const Content&, const Content&) = default;
};

std::byte* KeyElement(const KvLayerView& layer, KvSlot slot, int dim) {
  return slot.block + layer.offset + (dim * kBlockTokens + slot.offset) * sizeof(float);
}

std::byte* ValueElement(const KvLayerView& layer, KvSlot slot, int dim) {
  return slot.block + layer.offset + layer.key_bytes() +
         (slot.offset * layer.head_size + dim) * sizeof(float);
}

void WriteSlot(const KvLayerView& layer, KvSlot slot, const Content& content) {
  std::memcpy(KeyElement(layer, slot, 0), &content.token, sizeof(float));
  std::memcpy(KeyElement(layer, slot, layer.head_size - 1), &content.position, sizeof(float));
  std::memcpy(ValueElement(layer, slot, 0), &content.token, sizeof(float));
  std::memcpy(ValueElement(layer, slot, layer.head_size - 1), &content.position, sizeof(float));
}

absl::StatusOr<TokenId> ReadSlot(const KvLayerView& layer, KvSlot slot, int position, int vocab_size) {
  Content key, value;
  std::memcpy(&key.token, KeyElement(layer, slot, 0), sizeof(float));
  std::memcpy(&key.position, KeyElement(layer, slot, layer.head_size - 1), sizeof(float));
  std::memcpy(&value.token, ValueElement(layer, slot, 0), sizeof(float));
  std::memcpy(&value.position, ValueElement(layer, slot, layer.head_size - 1), sizeof(float));
  if (key != value || key.position != position || key.token < 0 || key.token >= vocab_size) {
    return absl::InternalError(absl::StrCat("table model: the slot of position ", position, " holds token ",
                                            key.token, " of position ", key.position, " as key and token ",
                                            value.token, " of position ", value.position, " as value"));
  }
  return static_cast<TokenId>(key.token);
}

// Natural logarithm in basic IEEE arithmetic, so that every machine has the same logits.
double LogOf(double p) { return p == 0 ? -std::numeric_limits<double>::infinity() : -NegativeLog(p); }

absl::Status CheckSegment(const ForwardSegment& segment, std::span<const ForwardRow> rows, int vocab_size) {
  if (segment.reserved_row(segment.num_rows) > segment.table->reserved()) {
    return absl::InvalidArgumentError(
        absl::StrCat("table model: ", segment.num_rows, " rows after ", segment.written.size(),
                     " written ones, reserved slots: ", segment.table->reserved()));
  }
  for (const ForwardRow& row : rows) {
    if (row.token < 0 || row.token >= vocab_size) {
      return absl::InvalidArgumentError(absl::StrCat("table model: token ", row.token, " of ", vocab_size));
    }
  }
  return absl::OkStatus();
}

}  // namespace

TableModel::TableModel(KvPool& pool, ContextTable table, int context_length)
    : table_(std::move(table)), context_length_(context_length) {
  const absl::StatusOr<int> id =
      pool.RegisterLayout(KvLayout({{.kv_heads = 1, .head_size = 16, .window = 0}}, KvDtype::kF32));
  FORERUN_CHECK(id.ok());
  kv_layout_id_ = *id;
  layer_ = pool.layout(*id).layer(0);
}

std::vector<float> TableModel::Logits(std::span<const TokenId> context) const {
  std::vector<float> logits;
  for (const double p : table_.Row(context)) logits.push_back(static_cast<float>(LogOf(p)));
  return logits;
}

absl::StatusOr<std::vector<TokenId>> TableModel::ReadContext(const BlockTable& table,
                                                             std::span<const int> parents, int row,
                                                             int depth) const {
  std::vector<TokenId> reversed;
  int position = table.committed() + depth;
  for (int at = row; position >= 0 && static_cast<int>(reversed.size()) < table_.order(); --position) {
    const KvSlot slot = table.Slot(at >= 0 ? table.committed() + at : position);
    FORERUN_ASSIGN_OR_RETURN(const TokenId token, ReadSlot(layer_, slot, position, vocab_size()));
    reversed.push_back(token);
    if (at >= 0) at = parents[at];
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

RowOutput TableModel::Output(const ForwardRow& row, std::span<const TokenId> context,
                             const Shortlist* shortlist) const {
  RowOutput output;
  std::vector<float> logits = Logits(context);
  double mass = 1;
  if (shortlist != nullptr) {
    FORERUN_CHECK(row.wanted != WantedOutput::kLogProbOf);
    std::vector<float> kept(logits.size(), -std::numeric_limits<float>::infinity());
    mass = 0;
    for (const TokenId id : shortlist->ids) {
      kept[id] = logits[id];
      mass += table_.Row(context)[id];
    }
    logits = std::move(kept);
  }
  const bool wants_top = row.wanted == WantedOutput::kTopK || row.wanted == WantedOutput::kTopKLogProb;
  if (wants_top) output.top = BestTokens(logits, row.top_k);
  if (wants_top || row.wanted == WantedOutput::kArgmax || row.wanted == WantedOutput::kBestLogProb) {
    output.argmax = static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    output.best_logit = logits[output.argmax];
    output.log_prob = mass == 0 ? output.best_logit : output.best_logit - LogOf(mass);
  } else if (row.wanted == WantedOutput::kLogProbOf) {
    output.log_prob = LogOf(table_.Row(context)[row.target]);
  } else if (row.wanted == WantedOutput::kFull) {
    output.logits = std::move(logits);
  }
  return output;
}

absl::Status TableModel::ForwardSegmentRows(const ForwardBatch& batch, const ForwardSegment& segment,
                                            std::ptrdiff_t seen, ForwardResult& result) const {
  const std::span<const ForwardRow> rows = std::span(batch.rows).subspan(segment.first_row, segment.num_rows);
  FORERUN_RETURN_IF_ERROR(CheckSegment(segment, rows, vocab_size()));
  FORERUN_ASSIGN_OR_RETURN(const std::vector<int> parents, TreeParents(segment, rows));
  const std::vector<int> depths = TreeDepths(parents);
  const BlockTable& table = *segment.table;
  for (int i = 0; i < segment.num_rows; ++i) {
    const int row = segment.reserved_row(i);
    const int position = table.committed() + depths[row];
    if (position >= context_length_) {
      return absl::InvalidArgumentError(
          absl::StrCat("table model: row ", i, " lies beyond ", context_length_));
    }
    WriteSlot(layer_, table.Slot(table.committed() + row),
              {.token = static_cast<float>(rows[i].token), .position = static_cast<float>(position)});
  }
  for (int i = 0; i < segment.num_rows; ++i) {
    const int row = segment.reserved_row(i);
    FORERUN_ASSIGN_OR_RETURN(std::vector<TokenId> context, ReadContext(table, parents, row, depths[row]));
    context.erase(context.begin(), context.end() - std::min<std::ptrdiff_t>(seen, std::ssize(context)));
    result.rows[segment.first_row + i] = Output(rows[i], context, batch.shortlist);
  }
  return absl::OkStatus();
}

absl::StatusOr<ForwardResult> TableModel::Forward(const ForwardBatch& batch) {
  const auto start = std::chrono::steady_clock::now();
  if (!batch.taps.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("table model: taps: expected none, found ", batch.taps.size()));
  }
  ForwardResult result;
  result.rows.resize(batch.rows.size());
  const LayerSubset subset = batch.layers == nullptr ? LayerSubset::All(num_layers()) : *batch.layers;
  FORERUN_CHECK(std::ssize(subset.attention) == num_layers());
  const std::ptrdiff_t seen = std::count(subset.attention.begin(), subset.attention.end(), true);
  for (const ForwardSegment& segment : batch.segments) {
    FORERUN_RETURN_IF_ERROR(ForwardSegmentRows(batch, segment, seen, result));
  }
  ++counters_.forwards;
  counters_.rows += static_cast<int64_t>(batch.rows.size());
  counters_.weight_bytes_read += static_cast<int64_t>(table_.num_rows()) * vocab_size() * sizeof(double);
  counters_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace forerun
