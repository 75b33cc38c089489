// Drafters whose heads all start from one hidden state of the target, that of the row before the root: what
// Medusa and Hydra share. Any form of tree, no deeper than there are heads.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/drafter.h"
#include "drafters/registry.h"
#include "drafters/trees/grow_trees.h"
#include "drafters/trees/tree_forms.h"

namespace forerun {

// Tap 0 of the row before the root; none where it has not come.
std::optional<std::span<const float>> StateBeforeRoot(const DraftTask& task);

struct StateHeadsOptions {
  std::string path;  // of the heads
  ChildSampling sampling = ChildSampling::kGreedy;
  TreeOptions tree;
};
// "heads", "sample" and "tree"; `name`: the drafter's.
absl::StatusOr<StateHeadsOptions> ReadStateHeadsOptions(ObjectReader& options, absl::string_view name);
// InvalidArgument where the tree is deeper than there are heads.
absl::Status CheckDepth(const StateHeadsOptions& options, int num_heads);

// `Reader`: has head().num_heads(), Open(), Follows(task), which begins a round and is false where the state
// is missing, and Read(std::span<TreeStep>).
template <class Reader>
class StateHeadsDrafter final : public Drafter {
 public:
  StateHeadsDrafter(std::string name, std::string note, Reader reader, StateHeadsOptions options, int tap)
      : name_(std::move(name)),
        note_(std::move(note)),
        reader_(std::move(reader)),
        forms_(std::move(options.tree), options.sampling),
        tap_(tap) {}

  absl::string_view name() const override { return name_; }
  std::string note() const override { return note_; }
  Proposal proposal(const Sampling& sampling) const override {
    return ProposalOf(forms_.sampling(), sampling);
  }
  bool chains_only() const override { return forms_.chains_only(); }
  std::vector<int> taps() const override { return {tap_}; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return reader_.Open(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    GrowTrees(reader_, tasks, [this](DraftTask& task) { return Start(task); });
    return absl::OkStatus();
  }

 private:
  std::unique_ptr<TreeGrowth> Start(DraftTask& task) {
    if (task.budget == 0 || !reader_.Follows(task)) return nullptr;
    return forms_.Start(task, reader_.head().num_heads());
  }

  std::string name_, note_;
  Reader reader_;
  TreeForms forms_;
  int tap_;
};

}  // namespace forerun
