// EAGLE-1, EAGLE-2 and EAGLE-3 (Li et al., arXiv:2401.15077, 2406.16858, 2503.01840): a head of one layer
// drafts from the target's hidden states (eagle_head.h). Keeps the keys and values of that layer; a round
// costs one pass over the rows that were accepted, and one for each further level.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "drafters/greedy_choice.h"
#include "drafters/grow_trees.h"
#include "drafters/heads/eagle_reader.h"
#include "drafters/registry.h"
#include "drafters/tree_forms.h"

namespace forerun {
namespace {

// A chain as long as the budget. It ends before a token where the head gives its best one less than
// `min_confidence`: decided on the distribution, before a draw, so that proposals keep their law.
class ChainGrowth final : public TreeGrowth {
 public:
  ChainGrowth(DraftTask& task, ChildSampling sampling, double min_confidence)
      : task_(task), sampling_(sampling), min_confidence_(min_confidence) {}

  Wish wish() const override {
    return {draws() ? WantedOutput::kFull : WantedForGreedy(*task_.sampling, min_confidence_), 0};
  }
  std::vector<TreeRow> Grow(std::span<const RowOutput> outputs) override {
    TokenTree& tree = *task_.tree;
    const int last = tree.num_drafted();
    Extend(last, outputs[0]);
    if (tree.num_drafted() == last || tree.num_drafted() == task_.budget) return {};
    return {{tree.node(last + 1).token, last - 1}};
  }

 private:
  bool draws() const { return Draws(sampling_, *task_.sampling); }
  void Extend(int last, const RowOutput& output) {
    if (draws()) {
      if (min_confidence_ > 0 && BestProbability(output.logits) < min_confidence_) return;
      return AddDrawnChildren(task_, last, sampling_, DraftDistribution(task_, last, output), 1);
    }
    const std::optional<TokenId> best =
        GreedyChoice(task_, task_.tree->PathTokens(last), output, min_confidence_);
    if (best) task_.tree->Add(last, *best);
  }

  DraftTask& task_;
  ChildSampling sampling_;
  double min_confidence_;
};

struct EagleOptions {
  ChildSampling sampling = ChildSampling::kGreedy;
  double min_confidence = 0;        // of chains
  std::optional<TreeOptions> tree;  // none: chains
};

class EagleDrafter final : public Drafter {
 public:
  EagleDrafter(EagleReader reader, const EagleOptions& options)
      : reader_(std::move(reader)), options_(options) {
    if (options_.tree) forms_.emplace(*options_.tree, options_.sampling);
  }

  absl::string_view name() const override { return "eagle"; }
  std::string note() const override {
    return absl::StrCat(reader_.head().is_eagle3() ? "EAGLE-3" : "EAGLE-1", ", taps ",
                        absl::StrJoin(reader_.head().taps(), " "));
  }
  Proposal proposal(const Sampling& sampling) const override {
    return ProposalOf(options_.sampling, sampling);
  }
  bool chains_only() const override { return !forms_ || forms_->chains_only(); }
  std::vector<int> taps() const override { return reader_.head().taps(); }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return reader_.Open(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    std::vector<GrowingTree> live;
    for (DraftTask& task : tasks) {
      if (task.budget == 0) {
        reader_.CatchUp(task);
      } else if (reader_.Follows(task)) {
        if (auto growth = Start(task)) live.push_back({&task, std::move(growth)});
      }
    }
    GrowTrees(reader_, std::move(live));
    return absl::OkStatus();
  }

 private:
  std::unique_ptr<TreeGrowth> Start(DraftTask& task) {
    if (forms_) return forms_->Start(task, reader_.DepthLeft(task));
    return std::make_unique<ChainGrowth>(task, options_.sampling, options_.min_confidence);
  }

  EagleReader reader_;
  EagleOptions options_;
  std::optional<TreeForms> forms_;
};

absl::StatusOr<EagleOptions> ReadEagleOptions(ObjectReader& reader) {
  EagleOptions options;
  options.sampling = ReadChildSampling(reader);
  options.min_confidence = reader.Number("min_confidence", 0, 0, 1);
  if (reader.Has("tree")) {
    if (options.min_confidence > 0) reader.Fail("min_confidence", "none beside a tree");
    absl::StatusOr<TreeOptions> tree = ReadTreeOptions(reader, options.sampling);
    FORERUN_RETURN_IF_ERROR(reader.Finish());
    FORERUN_ASSIGN_OR_RETURN(options.tree, std::move(tree));
    FORERUN_RETURN_IF_ERROR(RefuseAutoTree(*options.tree, "eagle"));
  }
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeEagleDrafter(ObjectReader& options,
                                                          const DrafterResources& resources) {
  const std::string path = options.RequiredString("heads");
  FORERUN_ASSIGN_OR_RETURN(const EagleOptions eagle_options, ReadEagleOptions(options));
  Model& target = *resources.target;
  const KvDtype dtype = resources.pool->layout(target.kv_layout_id()).dtype();
  FORERUN_ASSIGN_OR_RETURN(HeadFiles files, HeadFiles::Open(path));
  FORERUN_ASSIGN_OR_RETURN(EagleHead head,
                           EagleHead::Load(std::move(files), *target.backbone(), target.vocab_size(), dtype));
  FORERUN_ASSIGN_OR_RETURN(const int layout_id, resources.pool->RegisterLayout(head.layout()));
  return std::make_unique<EagleDrafter>(
      EagleReader(std::move(head), *resources.pool, layout_id, target.context_length()), eagle_options);
}

}  // namespace forerun
