#include "core/model/forward_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/model/tree_parents.h"

namespace forerun {
namespace {

absl::Status CheckRows(const ForwardBatch& batch, int vocab_size) {
  int next = 0;
  for (const ForwardSegment& segment : batch.segments) {
    FORERUN_CHECK(segment.table != nullptr);
    if (segment.first_row != next || segment.num_rows <= 0 ||
        segment.reserved_row(segment.num_rows) > segment.table->reserved()) {
      return absl::InvalidArgumentError(
          absl::StrCat("forward batch: expected a segment from row ", next,
                       " with reserved slots for all rows, found rows ", segment.first_row, " to ",
                       segment.first_row + segment.num_rows, " after ", segment.written.size(),
                       " written ones and ", segment.table->reserved(), " reserved slots"));
    }
    next += segment.num_rows;
  }
  if (next != static_cast<int>(batch.rows.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("forward batch: expected segments over all ", batch.rows.size(), " rows, found ", next));
  }
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    const ForwardRow& row = batch.rows[i];
    if (row.token < 0 || row.token >= vocab_size || row.target < 0 || row.target >= vocab_size) {
      return absl::InvalidArgumentError(absl::StrCat("forward batch: row ", i, ": expected token ids below ",
                                                     vocab_size, ", found ", row.token, " and target ",
                                                     row.target));
    }
  }
  return absl::OkStatus();
}

// Row i of a causal segment sees everything up to itself through the block table.
void PlanCausal(const ForwardSegment& segment, ForwardPlan& plan) {
  for (int i = 0; i < segment.num_rows; ++i) {
    const int position = segment.table->committed() + i;
    plan.positions.push_back(position);
    plan.attention.push_back({segment.table->block_data().data(), position + 1, nullptr, 0});
  }
}

// A tree row sees the committed context, then its ancestors' slots in order of position, then itself.
// `tail_offsets` collects where each row's tail starts in plan.tails, which may still move.
absl::Status PlanTree(const ForwardBatch& batch, const ForwardSegment& segment, ForwardPlan& plan,
                      std::vector<std::pair<int, std::size_t>>& tail_offsets) {
  const int committed = segment.table->committed();
  FORERUN_ASSIGN_OR_RETURN(
      const std::vector<int> parents,
      TreeParents(segment, std::span(batch.rows).subspan(segment.first_row, segment.num_rows)));
  const std::vector<int> depths = TreeDepths(parents);
  for (std::size_t row = segment.written.size(); row < parents.size(); ++row) {
    const int depth = depths[row];
    const std::size_t begin = plan.tails.size();
    plan.tails.resize(begin + depth + 1);
    int ancestor = static_cast<int>(row);
    for (int level = depth; level >= 0; --level) {
      plan.tails[begin + level] = segment.table->Slot(committed + ancestor);
      ancestor = parents[ancestor];
    }
    plan.positions.push_back(committed + depth);
    tail_offsets.emplace_back(static_cast<int>(plan.attention.size()), begin);
    plan.attention.push_back({segment.table->block_data().data(), committed, nullptr, depth + 1});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ForwardPlan> PlanForward(const ForwardBatch& batch, int vocab_size, int context_length) {
  FORERUN_RETURN_IF_ERROR(CheckRows(batch, vocab_size));
  ForwardPlan plan;
  std::vector<std::pair<int, std::size_t>> tail_offsets;
  for (const ForwardSegment& segment : batch.segments) {
    for (int i = 0; i < segment.num_rows; ++i) {
      plan.slots.push_back(segment.table->Slot(segment.table->committed() + segment.reserved_row(i)));
    }
    if (segment.causal && segment.written.empty()) {
      PlanCausal(segment, plan);
    } else {
      FORERUN_RETURN_IF_ERROR(PlanTree(batch, segment, plan, tail_offsets));
    }
    for (int first = 0; first < segment.num_rows; first += kAttentionTileRows) {
      plan.tiles.push_back(
          {segment.first_row + first, std::min(kAttentionTileRows, segment.num_rows - first)});
    }
  }
  for (const auto& [row, offset] : tail_offsets) plan.attention[row].tail = plan.tails.data() + offset;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    if (batch.rows[i].wanted != WantedOutput::kNone) plan.wanted_rows.push_back(static_cast<int32_t>(i));
  }
  plan.max_position = *std::max_element(plan.positions.begin(), plan.positions.end());
  if (plan.max_position >= context_length) {
    return absl::InvalidArgumentError(
        absl::StrCat("forward batch: expected positions below the context length ", context_length,
                     ", found ", plan.max_position));
  }
  return plan;
}

}  // namespace forerun
