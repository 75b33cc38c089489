// Medusa (Cai et al. 2024, arXiv:2401.10774): extra heads on the target's last hidden state guess the tokens
// after the next one, each without knowing what the others chose. Any form of tree grows from them: a node of
// depth d is followed by what head d says. Keeps the state of the row before the root for the length of a
// round; costs one pass through each head that the tree is deep, and no forward of any model.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/status_macros.h"
#include "drafters/heads/medusa_head.h"
#include "drafters/heads/state_heads.h"

namespace forerun {
namespace {

// Heads that "read" a tree: what they say after a row depends on its depth alone.
class MedusaReader {
 public:
  explicit MedusaReader(MedusaHead head) : head_(std::move(head)) {}

  const MedusaHead& head() const { return head_; }
  static std::unique_ptr<DrafterState> Open() { return std::make_unique<State>(); }

  // Begins a round. False without the target's state of the row before the root.
  bool Follows(const DraftTask& task) const {
    const std::optional<std::span<const float>> last = StateBeforeRoot(task);
    if (!last) return false;
    State& state = StateOf(task);
    state.hidden.assign(last->begin(), last->end());
    state.depths.clear();
    state.said.assign(head_.num_heads(), std::nullopt);
    return true;
  }

  void Read(std::span<TreeStep> steps) const {
    for (TreeStep& step : steps) {
      State& state = StateOf(*step.task);
      for (const TreeRow& row : step.rows) {
        state.depths.push_back(row.parent < 0 ? 1 : state.depths[row.parent] + 1);
      }
    }
    for (int depth = 0; depth < head_.num_heads(); ++depth) Ask(depth, steps);
    for (TreeStep& step : steps) {
      for (const int depth : Depths(step)) {
        if (step.task->status.ok()) step.outputs.push_back(*StateOf(*step.task).said[depth]);
      }
    }
  }

 private:
  struct State final : DrafterState {
    std::vector<float> hidden;                   // [width]
    std::vector<int> depths;                     // of the round's rows that were read
    std::vector<std::optional<RowOutput>> said;  // [heads], this round
  };
  static State& StateOf(const DraftTask& task) { return *static_cast<State*>(task.state); }

  // Of the step's rows, which were added to the state; 0 of the root.
  static std::vector<int> Depths(const TreeStep& step) {
    if (step.rows.empty()) return {0};
    const std::vector<int>& all = StateOf(*step.task).depths;
    return {all.end() - static_cast<std::ptrdiff_t>(step.rows.size()), all.end()};
  }

  // One pass of head `depth` for all sequences that ask for it and have not yet.
  void Ask(int depth, std::span<TreeStep> steps) const {
    std::vector<float> hidden;
    std::vector<ForwardRow> wanted;
    std::vector<TreeStep*> asking;
    for (TreeStep& step : steps) {
      State& state = StateOf(*step.task);
      const std::vector<int> depths = Depths(step);
      if (state.said[depth] || std::find(depths.begin(), depths.end(), depth) == depths.end()) continue;
      hidden.insert(hidden.end(), state.hidden.begin(), state.hidden.end());
      wanted.push_back({.wanted = step.wanted, .top_k = step.top_k});
      asking.push_back(&step);
    }
    if (asking.empty()) return;
    absl::StatusOr<std::vector<RowOutput>> said = head_.Outputs(depth, hidden, wanted);
    for (std::size_t i = 0; i < asking.size(); ++i) {
      asking[i]->task->status = said.status();
      if (said.ok()) StateOf(*asking[i]->task).said[depth] = std::move((*said)[i]);
    }
  }

  MedusaHead head_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeMedusaDrafter(ObjectReader& options,
                                                           const DrafterResources& resources) {
  FORERUN_ASSIGN_OR_RETURN(StateHeadsOptions heads, ReadStateHeadsOptions(options, "medusa"));
  Backbone& backbone = *resources.target->backbone();
  FORERUN_ASSIGN_OR_RETURN(HeadFiles files, HeadFiles::Open(heads.path));
  FORERUN_ASSIGN_OR_RETURN(MedusaHead head,
                           MedusaHead::Load(files, backbone, resources.target->vocab_size()));
  FORERUN_RETURN_IF_ERROR(CheckDepth(heads, head.num_heads()));
  return std::make_unique<StateHeadsDrafter<MedusaReader>>("medusa", "", MedusaReader(std::move(head)),
                                                           std::move(heads), backbone.layers() + 1);
}

}  // namespace forerun
