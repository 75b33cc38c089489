// A small model with the target's vocabulary drafts a tree, one forward a level over all sequences: SpecInfer
// (Miao et al. 2023, arXiv:2305.09781) with the forms of core/tree/sequoia.h and
// drafters/trees/tree_growth.h.
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/reading/shortlist_file.h"
#include "drafters/registry.h"
#include "drafters/trees/grow_trees.h"
#include "drafters/trees/tree_forms.h"

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
    GrowTrees(reader_, tasks, [this](DraftTask& task) { return Start(task); });
    return absl::OkStatus();
  }

 private:
  std::unique_ptr<TreeGrowth> Start(DraftTask& task) {
    if (task.budget == 0) {
      reader_.CatchUp(task);
      return nullptr;
    }
    return forms_.Start(task, reader_.DepthLeft(task));
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
