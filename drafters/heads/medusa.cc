// Medusa (Cai et al. 2024, arXiv:2401.10774): extra heads on the target's last hidden state guess the tokens
// after the next one, each without knowing what the others chose. Any form of tree grows from them: a node of
// depth d is followed by what head d says. Keeps the state of the row before the root for the length of a
// round; costs one pass through each head that the tree is deep, and no forward of any model.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/grow_trees.h"
#include "drafters/heads/medusa_head.h"
#include "drafters/registry.h"
#include "drafters/tree_forms.h"

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
    const Features* features = task.features;
    if (features == nullptr || features->first_position + features->rows + 1 != std::ssize(task.committed))
      return false;
    const std::span<const float> last = features->Row(0, features->rows - 1);
    State& state = StateOf(task);
    state.hidden.assign(last.begin(), last.end());
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

class MedusaDrafter final : public Drafter {
 public:
  MedusaDrafter(MedusaReader reader, TreeForms forms, int tap)
      : reader_(std::move(reader)), forms_(std::move(forms)), tap_(tap) {}

  absl::string_view name() const override { return "medusa"; }
  Proposal proposal(const Sampling& sampling) const override {
    return ProposalOf(forms_.sampling(), sampling);
  }
  bool chains_only() const override { return forms_.chains_only(); }
  std::vector<int> taps() const override { return {tap_}; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return reader_.Open(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    std::vector<GrowingTree> live;
    for (DraftTask& task : tasks) {
      if (task.budget == 0 || !reader_.Follows(task)) continue;
      if (auto growth = forms_.Start(task, reader_.head().num_heads()))
        live.push_back({&task, std::move(growth)});
    }
    GrowTrees(reader_, std::move(live));
    return absl::OkStatus();
  }

 private:
  MedusaReader reader_;
  TreeForms forms_;
  int tap_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeMedusaDrafter(ObjectReader& options,
                                                           const DrafterResources& resources) {
  const std::string path = options.RequiredString("heads");
  const ChildSampling sampling = ReadChildSampling(options);
  absl::StatusOr<TreeOptions> tree = ReadTreeOptions(options, sampling);
  FORERUN_RETURN_IF_ERROR(options.Finish());
  FORERUN_RETURN_IF_ERROR(tree.status());
  FORERUN_RETURN_IF_ERROR(RefuseAutoTree(*tree, "medusa"));
  Backbone& backbone = *resources.target->backbone();
  FORERUN_ASSIGN_OR_RETURN(HeadFiles files, HeadFiles::Open(path));
  FORERUN_ASSIGN_OR_RETURN(MedusaHead head,
                           MedusaHead::Load(files, backbone, resources.target->vocab_size()));
  if (tree->shape.max_depth() > head.num_heads()) {
    return absl::InvalidArgumentError(absl::StrCat("drafter.tree: expected at most ", head.num_heads(),
                                                   " levels, one for each head of ", path, ", found ",
                                                   tree->shape.max_depth()));
  }
  return std::make_unique<MedusaDrafter>(MedusaReader(std::move(head)), TreeForms(*std::move(tree), sampling),
                                         backbone.layers() + 1);
}

}  // namespace forerun
