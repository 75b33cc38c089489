#include "drafters/chain_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace forerun {
namespace {

constexpr int kChunkRows = 256;  // most rows of one sequence in one forward

struct ReaderState final : DrafterState {
  ReaderState(KvPool& pool, int layout_id) : table(pool, layout_id) {}
  BlockTable table;
  std::vector<TokenId> cached;  // [table.committed()]
};

ReaderState& StateOf(const DraftTask& task) { return *static_cast<ReaderState*>(task.state); }

// Drops what was read beyond the prefix shared with `text`; its last token is always read anew.
void RollBack(ReaderState& state, std::span<const TokenId> text) {
  const std::size_t most = std::min(state.cached.size(), text.size() - 1);
  const auto differ = std::mismatch(state.cached.begin(), state.cached.begin() + most, text.begin()).first;
  state.cached.erase(differ, state.cached.end());
  state.table.TruncateTo(static_cast<int>(state.cached.size()));
}

void Keep(ReaderState& state, std::span<const TokenId> tokens) {
  state.table.CommitAll();
  state.cached.insert(state.cached.end(), tokens.begin(), tokens.end());
}

}  // namespace

std::vector<TokenId> TextOf(const DraftTask& task) {
  std::vector<TokenId> text(task.committed.begin(), task.committed.end());
  for (const TokenTree::Node& node : task.tree->nodes().subspan(1)) text.push_back(node.token);
  return text;
}

std::unique_ptr<DrafterState> ChainReader::Open() const {
  return std::make_unique<ReaderState>(pool_, model_.kv_layout_id());
}

bool ChainReader::HasRoom(const DraftTask& task) const {
  return model_.context_length() - static_cast<int>(task.committed.size()) > task.budget;
}

void ChainReader::CatchUp(DraftTask& task) const {
  RollBack(StateOf(task), task.committed);
  const std::size_t goal =
      std::min<std::size_t>(task.committed.size() - 1, static_cast<std::size_t>(model_.context_length()));
  ReadChunks(task, task.committed.first(goal));
}

// Reads on to the end of `text`.
void ChainReader::ReadChunks(DraftTask& task, std::span<const TokenId> text) const {
  ReaderState& state = StateOf(task);
  while (task.status.ok() && state.cached.size() < text.size()) {
    const std::span<const TokenId> rest = text.subspan(state.cached.size());
    const std::span<const TokenId> chunk = rest.first(std::min<std::size_t>(rest.size(), kChunkRows));
    task.status = state.table.Reserve(static_cast<int>(chunk.size()));
    if (!task.status.ok()) return;
    ForwardBatch batch;
    for (const TokenId token : chunk) batch.rows.push_back({.token = token});
    batch.segments.push_back({&state.table, 0, static_cast<int32_t>(chunk.size()), true});
    task.status = model_.Forward(batch).status();
    if (task.status.ok()) Keep(state, chunk);
  }
}

void ChainReader::Read(std::span<ReadStep> steps) const {
  ForwardBatch batch;
  batch.shortlist = shortlist_.get();
  std::vector<ReadStep*> placed;
  std::vector<std::vector<TokenId>> unread;  // by placed step: the end of its text, then the guesses
  for (ReadStep& step : steps) {
    DraftTask& task = *step.task;
    ReaderState& state = StateOf(task);
    std::vector<TokenId> text = TextOf(task);
    RollBack(state, text);
    // Far behind: in chunks of their own up to the last token, which the common forward reads.
    if (text.size() - state.cached.size() > kChunkRows)
      ReadChunks(task, std::span(text).first(text.size() - 1));
    if (!task.status.ok()) continue;
    const std::size_t wanted_from = text.size() - 1;
    text.insert(text.end(), step.guesses.begin(), step.guesses.end());
    text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(state.cached.size()));
    task.status = state.table.Reserve(static_cast<int>(text.size()));
    if (!task.status.ok()) continue;
    batch.segments.push_back(
        {&state.table, static_cast<int32_t>(batch.rows.size()), static_cast<int32_t>(text.size()), true});
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool wanted = state.cached.size() + i >= wanted_from;
      batch.rows.push_back({.token = text[i], .wanted = wanted ? step.wanted : WantedOutput::kNone});
    }
    placed.push_back(&step);
    unread.push_back(std::move(text));
  }
  absl::StatusOr<ForwardResult> result = model_.Forward(batch);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    ReadStep& step = *placed[i];
    step.task->status = result.status();  // a model that cannot draft ends these requests, not the run
    if (!result.ok()) continue;
    Keep(StateOf(*step.task), unread[i]);
    const auto end = result->rows.begin() + batch.segments[i].first_row + batch.segments[i].num_rows;
    step.outputs.assign(std::make_move_iterator(end - 1 - static_cast<std::ptrdiff_t>(step.guesses.size())),
                        std::make_move_iterator(end));
  }
}

std::string ChainReader::Note() const {
  if (shortlist_ == nullptr) return "";
  return absl::StrCat("shortlist ", shortlist_->ids.size(), " of ", shortlist_->vocab_size);
}

}  // namespace forerun
