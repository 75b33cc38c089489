#include "drafters/trees/tree_reader.h"

#include "drafters/reading/read_prefix.h"

namespace forerun {
namespace {

struct ReaderState final : DrafterState {
  ReaderState(KvPool& pool, int layout_id) : read(pool, layout_id) {}
  ReadPrefix read;
  std::vector<TokenId> row_tokens;   // of the reserved rows
  std::vector<int32_t> row_parents;  // same length
};

ReaderState& StateOf(const DraftTask& task) { return *static_cast<ReaderState*>(task.state); }

// The rows that `text` goes through come after what was read, the other ones go; then as
// ReadPrefix::RollBack().
void Settle(ReaderState& state, std::span<const TokenId> text) {
  const std::span<const TokenId> read = state.read.tokens();
  std::vector<int> path;
  if (text.size() > read.size() && std::equal(read.begin(), read.end(), text.begin())) {
    int parent = -1;
    for (int row = 0; row < static_cast<int>(state.row_tokens.size()); ++row) {
      const std::size_t next = read.size() + path.size();
      if (next + 1 >= text.size()) break;
      if (state.row_parents[row] != parent || state.row_tokens[row] != text[next]) continue;
      path.push_back(row);
      parent = row;
    }
  }
  state.read.KeepRows(path, text.subspan(path.empty() ? 0 : read.size(), path.size()));
  state.row_tokens.clear();
  state.row_parents.clear();
  state.read.RollBack(text);
}

}  // namespace

std::unique_ptr<DrafterState> TreeReader::Open() const {
  return std::make_unique<ReaderState>(pool_, model_.kv_layout_id());
}

void TreeReader::CatchUp(DraftTask& task) const {
  ReaderState& state = StateOf(task);
  Settle(state, task.committed);
  task.status = state.read.CatchUp(model_, task.committed);
}

// Appends the step's rows; false where there is no room for them, which the task's status then says.
bool TreeReader::Place(const TreeStep& step, ForwardBatch& batch) const {
  ReaderState& state = StateOf(*step.task);
  const int32_t first = static_cast<int32_t>(batch.rows.size());
  std::vector<ForwardRow> rows;
  if (step.rows.empty()) {
    const std::span<const TokenId> text = step.task->committed;
    Settle(state, text);
    step.task->status = state.read.ReadIfFarBehind(model_, text);
    if (!step.task->status.ok()) return false;
    for (const TokenId token : text.subspan(state.read.size())) rows.push_back({.token = token});
    rows.back().wanted = step.wanted;
    rows.back().top_k = step.top_k;
  } else {
    for (const TreeRow& row : step.rows) {
      rows.push_back({.token = row.token, .parent = row.parent, .wanted = step.wanted, .top_k = step.top_k});
    }
  }
  const int32_t count = static_cast<int32_t>(rows.size());
  step.task->status = state.read.table().Reserve(static_cast<int>(state.row_tokens.size()) + count);
  if (!step.task->status.ok()) return false;
  batch.segments.push_back({&state.read.table(), first, count, step.rows.empty(), state.row_parents});
  batch.rows.insert(batch.rows.end(), rows.begin(), rows.end());
  return true;
}

void TreeReader::Read(std::span<TreeStep> steps) const {
  ForwardBatch batch;
  batch.shortlist = shortlist_.get();
  std::vector<TreeStep*> placed;
  for (TreeStep& step : steps) {
    if (Place(step, batch)) placed.push_back(&step);
  }
  if (placed.empty()) return;
  absl::StatusOr<ForwardResult> result = model_.Forward(batch);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    TreeStep& step = *placed[i];
    step.task->status = result.status();  // a model that cannot draft ends these requests, not the run
    if (!result.ok()) continue;
    ReaderState& state = StateOf(*step.task);
    if (step.rows.empty()) state.read.Keep(step.task->committed.subspan(state.read.size()));
    for (const TreeRow& row : step.rows) {
      state.row_tokens.push_back(row.token);
      state.row_parents.push_back(row.parent);
    }
    const auto end = result->rows.begin() + batch.segments[i].first_row + batch.segments[i].num_rows;
    const std::ptrdiff_t asked = step.rows.empty() ? 1 : static_cast<std::ptrdiff_t>(step.rows.size());
    step.outputs.assign(std::make_move_iterator(end - asked), std::make_move_iterator(end));
  }
}

}  // namespace forerun
