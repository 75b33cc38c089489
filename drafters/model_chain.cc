#include "drafters/model_chain.h"

#include <vector>

#include "core/verify/verifier.h"
#include "drafters/chain_reader.h"
#include "drafters/greedy_choice.h"

namespace forerun {
namespace {

class ModelChainDrafter final : public Drafter {
 public:
  ModelChainDrafter(Model& model, KvPool& pool, ModelChainOptions options)
      : options_(std::move(options)), reader_(model, pool, options_.shortlist) {}

  absl::string_view name() const override { return options_.name; }
  std::string note() const override { return reader_.Note(); }
  Proposal proposal(const Sampling& sampling) const override {
    return Draws(sampling) ? Proposal::kSampled : Proposal::kDeterministic;
  }
  bool coupled(const Sampling& sampling) const override {
    return options_.sampling == DraftSampling::kCoupled && Draws(sampling);
  }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return reader_.Open(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    std::vector<DraftTask*> live;
    for (DraftTask& task : tasks) {
      if (task.budget == 0) {
        reader_.CatchUp(task);
      } else if (reader_.HasRoom(task)) {  // a shorter context than the target's: silent at its end
        live.push_back(&task);
      }
    }
    while (!live.empty()) DraftStep(live);
    return absl::OkStatus();
  }

 private:
  bool Draws(const Sampling& sampling) const {
    return options_.sampling != DraftSampling::kGreedy && !sampling.greedy();
  }

  // One more token for every live chain; those that end leave `live`.
  void DraftStep(std::vector<DraftTask*>& live) {
    std::vector<ReadStep> steps;
    for (DraftTask* task : live) {
      steps.push_back({.task = task,
                       .guesses = {},
                       .wanted = Draws(*task->sampling)
                                     ? WantedOutput::kFull
                                     : WantedForGreedy(*task->sampling, options_.min_confidence),
                       .outputs = {}});
    }
    reader_.Read(steps);
    live.clear();
    for (const ReadStep& step : steps) {
      if (step.task->status.ok() && Extend(*step.task, step.outputs[0])) live.push_back(step.task);
    }
  }

  // Adds the next token; false where the chain ends here.
  bool Extend(DraftTask& task, const RowOutput& output) {
    TokenTree& tree = *task.tree;
    const int parent = tree.size() - 1;
    const std::vector<TokenId> path = tree.PathTokens(parent);
    if (Draws(*task.sampling)) {
      if (options_.min_confidence > 0 && BestProbability(output.logits) < options_.min_confidence)
        return false;
      Distribution q = Distribution::FromLogits(
          output.logits, *task.sampling,
          {task.committed.first(task.prompt_length), task.committed.subspan(task.prompt_length), path});
      tree.Add(parent, Draw(task, q, parent));
      tree.SetProposal(parent, Proposal::kSampled, std::move(q));
    } else {
      const std::optional<TokenId> best = GreedyChoice(task, path, output, options_.min_confidence);
      if (!best) return false;
      tree.Add(parent, *best);
    }
    return tree.num_drafted() < task.budget;
  }

  TokenId Draw(const DraftTask& task, const Distribution& q, int parent) const {
    const uint64_t seed = task.sampling->seed;
    const uint64_t committed = task.committed.size();
    if (options_.sampling == DraftSampling::kCoupled) {
      return q.DrawRace(TargetDrawKey(seed, task.request, static_cast<int64_t>(committed) + parent));
    }
    return q.DrawAt(
        Uniform({seed, task.request, committed, static_cast<uint64_t>(parent + 1), Purpose::kDraft}));
  }

  ModelChainOptions options_;
  ChainReader reader_;
};

}  // namespace

std::unique_ptr<Drafter> MakeModelChainDrafter(Model& model, KvPool& pool, ModelChainOptions options) {
  return std::make_unique<ModelChainDrafter>(model, pool, std::move(options));
}

}  // namespace forerun
