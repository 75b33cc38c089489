#include "drafters/reading/chain_reader.h"

#include <algorithm>

namespace forerun {
namespace {

struct ReaderState final : DrafterState {
  ReaderState(KvPool& pool, int layout_id) : read(pool, layout_id) {}
  ReadPrefix read;
  std::shared_ptr<const LayerSubset> layers;  // null: all
};

ReaderState& StateOf(const DraftTask& task) { return *static_cast<ReaderState*>(task.state); }
ReadPrefix& ReadBy(const DraftTask& task) { return StateOf(task).read; }

}  // namespace

std::vector<TokenId> TextOf(const DraftTask& task) {
  std::vector<TokenId> text(task.committed.begin(), task.committed.end());
  for (const TokenTree::Node& node : task.tree->nodes().subspan(1)) text.push_back(node.token);
  return text;
}

std::unique_ptr<DrafterState> ChainReader::Open() const {
  return std::make_unique<ReaderState>(pool_, model_.kv_layout_id());
}

void ChainReader::Borrow(DraftTask& task, const LayerChoice& choose_layers) const {
  ReaderState& state = StateOf(task);
  if (state.layers == nullptr) {
    absl::StatusOr<std::shared_ptr<const LayerSubset>> chosen = choose_layers(task);
    task.status = chosen.status();
    if (!chosen.ok()) return;
    state.layers = *std::move(chosen);
  }
  state.read.Become(task.target_table->Fork(), task.committed.first(task.committed.size() - 1));
}

void ChainReader::Return(DraftTask& task) const {
  ReadBy(task).Become(BlockTable(pool_, model_.kv_layout_id()), {});
}

bool ChainReader::HasRoom(const DraftTask& task) const {
  return model_.context_length() - static_cast<int>(task.committed.size()) > task.budget;
}

void ChainReader::CatchUp(DraftTask& task) const {
  task.status = ReadBy(task).CatchUp(model_, task.committed);
}

void ChainReader::Read(std::span<ReadStep> steps) const {
  std::vector<ReadStep*> left;
  for (ReadStep& step : steps) left.push_back(&step);
  while (!left.empty()) {
    const LayerSubset* const layers = StateOf(*left.front()->task).layers.get();
    const auto others = std::stable_partition(left.begin(), left.end(), [&](const ReadStep* step) {
      return StateOf(*step->task).layers.get() == layers;
    });
    ReadTogether({left.begin(), others}, layers);
    left.erase(left.begin(), others);
  }
}

void ChainReader::ReadTogether(std::span<ReadStep* const> steps, const LayerSubset* layers) const {
  ForwardBatch batch;
  batch.shortlist = shortlist_.get();
  batch.layers = layers;
  std::vector<ReadStep*> placed;
  std::vector<std::vector<TokenId>> unread;  // by placed step: the end of its text, then the guesses
  for (ReadStep* const at : steps) {
    ReadStep& step = *at;
    DraftTask& task = *step.task;
    ReadPrefix& read = ReadBy(task);
    std::vector<TokenId> text = TextOf(task);
    read.RollBack(text);
    task.status = read.ReadIfFarBehind(model_, text);
    if (!task.status.ok()) continue;
    const std::size_t wanted_from = text.size() - 1;
    text.insert(text.end(), step.guesses.begin(), step.guesses.end());
    text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(read.size()));
    task.status = read.table().Reserve(static_cast<int>(text.size()));
    if (!task.status.ok()) continue;
    batch.segments.push_back(
        {&read.table(), static_cast<int32_t>(batch.rows.size()), static_cast<int32_t>(text.size()), true});
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool wanted = read.size() + i >= wanted_from;
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
    ReadBy(*step.task).Keep(unread[i]);
    const auto end = result->rows.begin() + batch.segments[i].first_row + batch.segments[i].num_rows;
    step.outputs.assign(std::make_move_iterator(end - 1 - static_cast<std::ptrdiff_t>(step.guesses.size())),
                        std::make_move_iterator(end));
  }
}

}  // namespace forerun
