#include "drafters/heads/recurrent_drafter.h"

#include <utility>

#include "core/base/status_macros.h"
#include "drafters/heads/recurrent_reader.h"
#include "drafters/trees/grow_trees.h"
#include "drafters/trees/tree_forms.h"

namespace forerun {
namespace {

class RecurrentDrafter final : public Drafter {
 public:
  RecurrentDrafter(std::string name, std::string note, RecurrentReader reader,
                   const RecurrentOptions& options)
      : name_(std::move(name)), note_(std::move(note)), reader_(std::move(reader)), options_(options) {
    if (options_.tree) forms_.emplace(*options_.tree, options_.sampling);
  }

  absl::string_view name() const override { return name_; }
  std::string note() const override { return note_; }
  Proposal proposal(const Sampling& sampling) const override {
    return ProposalOf(options_.sampling, sampling);
  }
  bool chains_only() const override { return !forms_ || forms_->chains_only(); }
  std::vector<int> taps() const override { return reader_.head().taps(); }
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
    if (!reader_.Follows(task)) return nullptr;
    if (forms_) return forms_->Start(task, reader_.DepthLeft(task));
    return GrowChain(task, options_.sampling, options_.min_confidence);
  }

  std::string name_, note_;
  RecurrentReader reader_;
  RecurrentOptions options_;
  std::optional<TreeForms> forms_;
};

}  // namespace

absl::StatusOr<RecurrentOptions> ReadRecurrentOptions(ObjectReader& reader, absl::string_view name) {
  RecurrentOptions options;
  options.path = reader.RequiredString("heads");
  options.sampling = ReadChildSampling(reader);
  options.min_confidence = reader.Number("min_confidence", 0, 0, 1);
  if (reader.Has("tree")) {
    if (options.min_confidence > 0) reader.Fail("min_confidence", "none beside a tree");
    absl::StatusOr<TreeOptions> tree = ReadTreeOptions(reader, options.sampling);
    FORERUN_RETURN_IF_ERROR(reader.Finish());
    FORERUN_ASSIGN_OR_RETURN(options.tree, std::move(tree));
    FORERUN_RETURN_IF_ERROR(RefuseAutoTree(*options.tree, name));
  }
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  return options;
}

absl::StatusOr<std::unique_ptr<Drafter>> MakeRecurrentDrafter(std::string name, std::string note,
                                                              std::unique_ptr<RecurrentHead> head,
                                                              const RecurrentOptions& options,
                                                              const DrafterResources& resources) {
  FORERUN_ASSIGN_OR_RETURN(const int layout_id, resources.pool->RegisterLayout(head->layout()));
  RecurrentReader reader(std::move(head), *resources.pool, layout_id, resources.target->context_length());
  return std::make_unique<RecurrentDrafter>(std::move(name), std::move(note), std::move(reader), options);
}

KvDtype TargetKvDtype(const DrafterResources& resources) {
  return resources.pool->layout(resources.target->kv_layout_id()).dtype();
}

}  // namespace forerun
