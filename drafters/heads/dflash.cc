// DFlash (Chen et al. 2026, arXiv:2602.06036): a block of masks filled in at once from the target's hidden
// states (dflash_head.h); a chain of what its rows say, no longer than the block. Keeps the keys and values
// of all committed rows; a round costs one pass over the block, and two products and each layer's keys and
// values for every row that was accepted. The block is always whole, as it was trained, however few tokens
// are wanted.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "drafters/heads/dflash_head.h"
#include "drafters/heads/recurrent_drafter.h"
#include "drafters/reading/read_prefix.h"
#include "drafters/trees/tree_growth.h"
#include "drafters/trees/tree_options.h"

namespace forerun {
namespace {

class DflashDrafter final : public Drafter {
 public:
  DflashDrafter(std::unique_ptr<DflashHead> head, KvPool& pool, int layout_id, int context_length,
                ChildSampling sampling, double min_confidence)
      : head_(std::move(head)),
        pool_(pool),
        layout_id_(layout_id),
        context_length_(context_length),
        sampling_(sampling),
        min_confidence_(min_confidence) {}

  absl::string_view name() const override { return "dflash"; }
  std::string note() const override {
    return absl::StrCat("blocks of ", head_->block_size(), ", taps ", absl::StrJoin(head_->taps(), " "), ", ",
                        kNotRunOnPublished);
  }
  Proposal proposal(const Sampling& sampling) const override { return ProposalOf(sampling_, sampling); }
  std::vector<int> taps() const override { return head_->taps(); }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override {
    return std::make_unique<State>(pool_, layout_id_);
  }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    Remember(tasks);
    Guess(tasks);
    return absl::OkStatus();
  }

 private:
  struct State final : DrafterState {
    State(KvPool& pool, int layout_id) : context(pool, layout_id) {}
    ReadPrefix context;  // of the target's rows that were remembered
  };
  static ReadPrefix& ContextOf(const DraftTask& task) { return static_cast<State*>(task.state)->context; }
  static std::span<const TokenId> NewTokens(const DraftTask& task) {
    return task.committed.subspan(task.features->first_position, task.features->rows);
  }

  // Drops what no longer holds. False where there are no new states, or they do not go on where the rows end.
  static bool Continues(const DraftTask& task) {
    const Features* features = task.features;
    ReadPrefix& context = ContextOf(task);
    context.RollBack(features == nullptr ? task.committed
                                         : task.committed.first(features->first_position + 1));
    return features != nullptr && features->first_position == std::ssize(context.tokens());
  }

  // One pass over all rows whose states have come.
  void Remember(std::span<DraftTask> tasks) {
    ForwardBatch batch;
    std::vector<float> states;
    std::vector<DraftTask*> placed;
    for (DraftTask& task : tasks) {
      if (!Continues(task)) continue;
      BlockTable& table = ContextOf(task).table();
      const int rows = task.features->rows;
      task.status = table.Reserve(rows);
      if (!task.status.ok()) continue;
      batch.segments.push_back({&table, static_cast<int32_t>(batch.rows.size()), rows, true});
      for (const TokenId token : NewTokens(task)) batch.rows.push_back({.token = token});
      const std::vector<float> joined = JoinStates(*task.features, 0, rows);
      states.insert(states.end(), joined.begin(), joined.end());
      placed.push_back(&task);
    }
    if (placed.empty()) return;
    const absl::Status status = head_->Remember(batch, states, context_length_);
    for (DraftTask* task : placed) {
      task->status = status;  // a head that cannot draft ends these requests, not the run
      if (status.ok()) ContextOf(*task).Keep(NewTokens(*task));
    }
  }

  // One pass over the blocks of all sequences that know every row before their root.
  void Guess(std::span<DraftTask> tasks) {
    ForwardBatch batch;
    std::vector<std::pair<DraftTask*, std::unique_ptr<TreeGrowth>>> placed;
    for (DraftTask& task : tasks) {
      const bool ready = ContextOf(task).size() + 1 == task.committed.size();
      if (!task.status.ok() || task.budget == 0 || !ready) continue;
      task.status = ContextOf(task).table().Reserve(head_->block_size());
      if (!task.status.ok()) continue;
      placed.emplace_back(&task, GrowChain(task, sampling_, min_confidence_));
      PlaceBlock(task, placed.back().second->wish(), batch);
    }
    if (placed.empty()) return;
    // The rows behind the last token that can be wanted may lie behind the context's end.
    const auto said = head_->Guess(batch, context_length_ + head_->block_size());
    for (std::size_t i = 0; i < placed.size(); ++i) {
      auto& [task, growth] = placed[i];
      ContextOf(*task).table().Rollback();
      task->status = said.status();
      if (!said.ok()) continue;
      const auto block = std::span(*said).subspan(batch.segments[i].first_row, head_->block_size());
      for (int row = 1; row < head_->block_size(); ++row) {
        if (growth->Grow(block.subspan(row, 1)).empty()) break;
      }
    }
  }

  void PlaceBlock(const DraftTask& task, const TreeGrowth::Wish& wish, ForwardBatch& batch) const {
    batch.segments.push_back({&ContextOf(task).table(), static_cast<int32_t>(batch.rows.size()),
                              head_->block_size(), /*causal=*/false});
    for (int row = 0; row < head_->block_size(); ++row) {
      const bool is_wanted = row > 0 && row <= task.budget;
      batch.rows.push_back({.token = row == 0 ? task.committed.back() : head_->mask_token(),
                            .parent = row - 1,
                            .wanted = is_wanted ? wish.wanted : WantedOutput::kNone,
                            .top_k = wish.top_k});
    }
  }

  std::unique_ptr<DflashHead> head_;
  KvPool& pool_;
  int layout_id_;
  int context_length_;
  ChildSampling sampling_;
  double min_confidence_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeDflashDrafter(ObjectReader& options,
                                                           const DrafterResources& resources) {
  const std::string path = options.RequiredString("heads");
  const ChildSampling sampling = ReadChildSampling(options);
  const double min_confidence = options.Number("min_confidence", 0, 0, 1);
  FORERUN_RETURN_IF_ERROR(options.Finish());
  Model& target = *resources.target;
  FORERUN_ASSIGN_OR_RETURN(HeadFiles files, HeadFiles::Open(path));
  FORERUN_ASSIGN_OR_RETURN(
      std::unique_ptr<DflashHead> head,
      DflashHead::Load(files, *target.backbone(), target.vocab_size(), TargetKvDtype(resources)));
  FORERUN_ASSIGN_OR_RETURN(const int layout_id, resources.pool->RegisterLayout(head->layout()));
  return std::make_unique<DflashDrafter>(std::move(head), *resources.pool, layout_id, target.context_length(),
                                         sampling, min_confidence);
}

}  // namespace forerun
