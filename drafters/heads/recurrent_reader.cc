#include "drafters/heads/recurrent_reader.h"

#include <algorithm>

#include "core/base/check.h"

namespace forerun {

struct RecurrentReader::State final : DrafterState {
  State(KvPool& pool, int layout_id) : table(pool, layout_id) {}

  BlockTable table;              // its committed rows: those made from the target's states
  std::vector<TokenId> text;     // that they come from: [committed rows + 1] tokens, or none
  std::vector<float> root;       // what the last of them made
  std::vector<float> drafted;    // of this round's drafted rows, [rows, width]: what they made
  std::vector<int32_t> parents;  // of the same
};

RecurrentReader::State& RecurrentReader::StateOf(const DraftTask& task) {
  return *static_cast<State*>(task.state);
}

std::unique_ptr<DrafterState> RecurrentReader::Open() const {
  return std::make_unique<State>(pool_, layout_id_);
}

// False where there are no new states, or they do not go on where the rows end.
bool RecurrentReader::RollBack(const DraftTask& task) const {
  State& state = StateOf(task);
  const auto differ =
      std::mismatch(state.text.begin(), state.text.end(), task.committed.begin(), task.committed.end()).first;
  const int64_t matching = differ - state.text.begin();
  int64_t rows = std::max<int64_t>(0, matching - 1);
  const Features* features = task.features;
  if (features != nullptr) rows = std::min(rows, features->first_position);
  state.table.TruncateTo(static_cast<int>(rows));
  state.text.assign(task.committed.begin(), task.committed.begin() + (rows == 0 ? 0 : rows + 1));
  state.drafted.clear();
  state.parents.clear();
  return features != nullptr && features->first_position == rows;
}

bool RecurrentReader::Follows(const DraftTask& task) const {
  return RollBack(task) &&
         task.features->first_position + task.features->rows == std::ssize(task.committed) - 1;
}

void RecurrentReader::CatchUp(DraftTask& task) {
  if (!RollBack(task)) return;
  TreeStep step{.task = &task, .rows = {}, .wanted = WantedOutput::kNone, .outputs = {}};
  Read({&step, 1});
}

// Reserves the step's rows and appends them with their features; false where there is no room.
bool RecurrentReader::Place(TreeStep& step, ForwardBatch& batch, std::vector<float>& features) const {
  DraftTask& task = *step.task;
  State& state = StateOf(task);
  const bool is_root = step.rows.empty();
  const int written = is_root ? 0 : static_cast<int>(state.parents.size());
  const int rows = is_root ? task.features->rows : static_cast<int>(step.rows.size());
  task.status = state.table.Reserve(written + rows);
  if (!task.status.ok()) return false;
  ForwardSegment segment{&state.table, static_cast<int32_t>(batch.rows.size()), rows, is_root};
  if (is_root) {
    const std::vector<float> own = head_->TargetFeatures(*task.features, 0, rows);
    features.insert(features.end(), own.begin(), own.end());
    for (int i = 0; i < rows; ++i) {
      batch.rows.push_back({.token = task.committed[task.features->first_position + i + 1],
                            .wanted = i + 1 < rows ? WantedOutput::kNone : step.wanted,
                            .top_k = step.top_k});
    }
  } else {
    const int width = head_->width();
    for (const TreeRow& row : step.rows) {
      const auto from = row.parent < 0 ? state.root.begin() : state.drafted.begin() + row.parent * width;
      features.insert(features.end(), from, from + width);
      batch.rows.push_back(
          {.token = row.token, .parent = row.parent, .wanted = step.wanted, .top_k = step.top_k});
    }
    segment.written = state.parents;
  }
  batch.segments.push_back(segment);
  return true;
}

// `features`: what the step's rows made.
void RecurrentReader::Keep(const TreeStep& step, std::span<const float> features) const {
  State& state = StateOf(*step.task);
  if (step.rows.empty()) {
    state.table.CommitAll();
    state.text.assign(step.task->committed.begin(),
                      step.task->committed.begin() + state.table.committed() + 1);
    const auto last = features.last(head_->width());
    state.root.assign(last.begin(), last.end());
    return;
  }
  state.drafted.insert(state.drafted.end(), features.begin(), features.end());
  for (const TreeRow& row : step.rows) state.parents.push_back(row.parent);
}

void RecurrentReader::Read(std::span<TreeStep> steps) {
  ForwardBatch batch;
  std::vector<float> features;
  std::vector<TreeStep*> placed;
  for (TreeStep& step : steps) {
    if (Place(step, batch, features)) placed.push_back(&step);
  }
  if (placed.empty()) return;
  absl::StatusOr<RecurrentHead::Result> result = head_->Forward(batch, features, context_length_);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    TreeStep& step = *placed[i];
    step.task->status = result.status();  // a head that cannot draft ends these requests, not the run
    if (!result.ok()) continue;
    const ForwardSegment& segment = batch.segments[i];
    Keep(step, std::span(result->features)
                   .subspan(static_cast<std::size_t>(segment.first_row) * head_->width(),
                            static_cast<std::size_t>(segment.num_rows) * head_->width()));
    const auto end = result->rows.begin() + segment.first_row + segment.num_rows;
    step.outputs.assign(std::make_move_iterator(end - (step.rows.empty() ? 1 : segment.num_rows)),
                        std::make_move_iterator(end));
  }
}

}  // namespace forerun
