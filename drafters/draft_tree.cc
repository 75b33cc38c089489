// A small model with the target's vocabulary drafts a tree, one forward a level over all sequences: SpecInfer
// (Miao et al. 2023, arXiv:2305.09781) with the forms of core/tree/sequoia.h and drafters/tree_growth.h.
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/registry.h"
#include "drafters/shortlist_file.h"
#include "drafters/tree_forms.h"
#include "drafters/tree_reader.h"

namespace forerun {
namespace {

class DraftTreeDrafter final : public Drafter {
 public:
  DraftTreeDrafter(TreeForms forms, TreeReader reader)
      : forms_(std::move(forms)), reader_(std::move(reader)) {}

  absl::string_view name() const override { return "draft_tree"; }
  std::string note() const override {
    const std::string form = forms_.note(), words = reader_.Note();
    return absl::StrCat(form, form.empty() || words.empty() ? "" : "; ", words);
  }
  Proposal proposal(const Sampling& sampling) const override {
    return ProposalOf(forms_.sampling(), sampling);
  }
  bool chains_only() const override { return forms_.chains_only(); }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return reader_.Open(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    std::vector<Growing> live;
    for (DraftTask& task : tasks) {
      if (task.budget == 0) {
        reader_.CatchUp(task);
      } else if (std::unique_ptr<TreeGrowth> growth = forms_.Start(task, reader_.DepthLeft(task))) {
        live.push_back({&task, std::move(growth), {}});
      }
    }
    while (!live.empty()) DraftStep(live);
    return absl::OkStatus();
  }

 private:
  struct Growing {
    DraftTask* task;
    std::unique_ptr<TreeGrowth> growth;
    std::vector<TreeRow> rows;  // to be read next; none: the root
  };

  // A forward for every live tree; those that are done leave `live`.
  void DraftStep(std::vector<Growing>& live) {
    std::vector<TreeStep> steps;
    for (Growing& growing : live) {
      const TreeGrowth::Wish wish = growing.growth->wish();
      steps.push_back({.task = growing.task,
                       .rows = std::move(growing.rows),
                       .wanted = wish.wanted,
                       .top_k = wish.top_k,
                       .outputs = {}});
    }
    reader_.Read(steps);
    for (std::size_t i = 0; i < live.size(); ++i) {
      const bool read = steps[i].task->status.ok();
      live[i].rows = read ? live[i].growth->Grow(steps[i].outputs) : std::vector<TreeRow>();
    }
    std::erase_if(live, [](const Growing& growing) { return growing.rows.empty(); });
  }

  TreeForms forms_;
  TreeReader reader_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeDraftTreeDrafter(ObjectReader& options,
                                                              const DrafterResources& resources) {
  const ChildSampling sampling = ReadChildSampling(options);
  absl::StatusOr<TreeOptions> tree = ReadTreeOptions(options, sampling);
  FORERUN_ASSIGN_OR_RETURN(const std::shared_ptr<const Shortlist> shortlist,
                           ShortlistOption(options, *resources.draft));
  FORERUN_RETURN_IF_ERROR(tree.status());
  TreeForms forms(*std::move(tree), sampling);
  if (forms.measures()) FORERUN_RETURN_IF_ERROR(forms.Measure(resources, shortlist.get()));
  TreeReader reader(*resources.draft, *resources.pool, shortlist);
  return std::make_unique<DraftTreeDrafter>(std::move(forms), std::move(reader));
}

}  // namespace forerun
