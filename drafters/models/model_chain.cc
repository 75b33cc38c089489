#include "drafters/models/model_chain.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/verify/verifier.h"
#include "drafters/reading/greedy_choice.h"
#include "drafters/reading/shortlist_file.h"

namespace forerun {
namespace {

bool Draws(const Sampling& sampling, const ModelChainOptions& options) {
  return options.sampling != DraftSampling::kGreedy && !sampling.greedy();
}

TokenId DrawToken(const DraftTask& task, const Distribution& q, int parent, DraftSampling how) {
  const uint64_t seed = task.sampling->seed;
  const uint64_t committed = task.committed.size();
  if (how == DraftSampling::kCoupled) {
    return q.DrawRace(TargetDrawKey(seed, task.request, static_cast<int64_t>(committed) + parent));
  }
  return q.DrawAt(
      Uniform({seed, task.request, committed, static_cast<uint64_t>(parent + 1), Purpose::kDraft}));
}

class ModelChainDrafter final : public Drafter {
 public:
  ModelChainDrafter(Model& model, KvPool& pool, ModelChainOptions options)
      : options_(std::move(options)), reader_(model, pool, options_.shortlist) {}

  absl::string_view name() const override { return options_.name; }
  std::string note() const override {
    const std::string shortlist = reader_.Note();
    return absl::StrCat(options_.note, options_.note.empty() || shortlist.empty() ? "" : ", ", shortlist);
  }
  Proposal proposal(const Sampling& sampling) const override {
    return Draws(sampling, options_) ? Proposal::kSampled : Proposal::kDeterministic;
  }
  bool coupled(const Sampling& sampling) const override {
    return options_.sampling == DraftSampling::kCoupled && Draws(sampling, options_);
  }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return reader_.Open(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    std::vector<DraftTask*> live;
    for (DraftTask& task : tasks) {
      if (options_.choose_layers) {
        if (task.budget > 0 && task.target_table != nullptr) reader_.Borrow(task, options_.choose_layers);
        if (!task.status.ok() || task.target_table == nullptr) continue;
      } else if (task.budget == 0) {
        reader_.CatchUp(task);
      }
      // A shorter context than the target's: silent at its end.
      if (task.budget > 0 && reader_.HasRoom(task)) live.push_back(&task);
    }
    while (!live.empty()) DraftStep(live);
    if (options_.choose_layers) {
      for (DraftTask& task : tasks) reader_.Return(task);
    }
    return absl::OkStatus();
  }

 private:
  // One more token for every live chain; those that end leave `live`.
  void DraftStep(std::vector<DraftTask*>& live) {
    std::vector<ReadStep> steps;
    for (DraftTask* task : live) {
      steps.push_back(
          {.task = task, .guesses = {}, .wanted = WantedForChain(*task, options_), .outputs = {}});
    }
    reader_.Read(steps);
    live.clear();
    for (const ReadStep& step : steps) {
      if (step.task->status.ok() && ExtendChain(*step.task, step.outputs[0], options_))
        live.push_back(step.task);
    }
  }

  ModelChainOptions options_;
  ChainReader reader_;
};

}  // namespace

WantedOutput WantedForChain(const DraftTask& task, const ModelChainOptions& options) {
  return Draws(*task.sampling, options) ? WantedOutput::kFull
                                        : WantedForGreedy(*task.sampling, options.min_confidence);
}

bool ExtendChain(DraftTask& task, const RowOutput& output, const ModelChainOptions& options) {
  TokenTree& tree = *task.tree;
  const int parent = tree.size() - 1;
  const std::vector<TokenId> path = tree.PathTokens(parent);
  if (Draws(*task.sampling, options)) {
    if (options.min_confidence > 0 && BestProbability(output.logits) < options.min_confidence) return false;
    Distribution q = Distribution::FromLogits(
        output.logits, *task.sampling,
        {task.committed.first(task.prompt_length), task.committed.subspan(task.prompt_length), path});
    tree.Add(parent, DrawToken(task, q, parent, options.sampling));
    tree.SetProposal(parent, Proposal::kSampled, std::move(q));
  } else {
    const std::optional<TokenId> best = GreedyChoice(task, path, output, options.min_confidence);
    if (!best) return false;
    tree.Add(parent, *best);
  }
  return tree.num_drafted() < task.budget;
}

absl::Status ReadChainOptions(ObjectReader& options, Model& model, ModelChainOptions* chain) {
  const std::string sample = options.Choice("sample", "greedy", {"greedy", "sampled", "coupled"});
  if (sample == "sampled") chain->sampling = DraftSampling::kSampled;
  if (sample == "coupled") chain->sampling = DraftSampling::kCoupled;
  chain->min_confidence = options.Number("min_confidence", 0, 0, 1);
  FORERUN_ASSIGN_OR_RETURN(chain->shortlist, ShortlistOption(options, model));
  return absl::OkStatus();
}

std::unique_ptr<Drafter> MakeModelChainDrafter(Model& model, KvPool& pool, ModelChainOptions options) {
  return std::make_unique<ModelChainDrafter>(model, pool, std::move(options));
}

}  // namespace forerun
