#include "drafters/model_chain.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/kv/block_table.h"
#include "core/verify/verifier.h"

namespace forerun {
namespace {

constexpr int kCatchUpRows = 256;  // rows of one forward while catching up

// The keys and values of a prefix of what was committed, and of drafts that may yet be.
struct ChainState final : DrafterState {
  ChainState(KvPool& pool, int layout_id) : table(pool, layout_id) {}
  BlockTable table;
  std::vector<TokenId> cached;  // [table.committed()]
};

ChainState& StateOf(const DraftTask& task) { return *static_cast<ChainState*>(task.state); }

double BestProbability(std::span<const float> logits) {
  const float best = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - best);
  return 1 / sum;
}

class ModelChainDrafter final : public Drafter {
 public:
  ModelChainDrafter(Model& model, KvPool& pool, ModelChainOptions options)
      : model_(model), pool_(pool), options_(std::move(options)) {}

  absl::string_view name() const override { return options_.name; }
  Proposal proposal(const Sampling& sampling) const override {
    return Draws(sampling) ? Proposal::kSampled : Proposal::kDeterministic;
  }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override {
    return std::make_unique<ChainState>(pool_, model_.kv_layout_id());
  }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    std::vector<DraftTask*> live;
    for (DraftTask& task : tasks) {
      RollBack(task);
      // A draft model with a shorter context than the target falls silent at its end.
      const int room = model_.context_length() - static_cast<int>(task.committed.size());
      if (task.budget > 0 && room <= task.budget) continue;
      CatchUp(task);
      if (task.budget > 0 && task.status.ok()) live.push_back(&task);
    }
    while (!live.empty()) DraftStep(live);
    return absl::OkStatus();
  }

 private:
  bool Draws(const Sampling& sampling) const {
    return options_.sampling != DraftSampling::kGreedy && !sampling.greedy();
  }

  // Drops what was cached beyond the prefix shared with the committed tokens; the root is always computed
  // anew.
  void RollBack(const DraftTask& task) {
    ChainState& state = StateOf(task);
    const std::size_t most = std::min(state.cached.size(), task.committed.size() - 1);
    std::size_t shared = 0;
    while (shared < most && state.cached[shared] == task.committed[shared]) ++shared;
    state.cached.resize(shared);
    state.table.TruncateTo(static_cast<int>(shared));
  }

  // Computes everything before the root.
  void CatchUp(DraftTask& task) {
    ChainState& state = StateOf(task);
    const int goal = std::min<int>(static_cast<int>(task.committed.size()) - 1, model_.context_length());
    while (task.status.ok() && state.table.committed() < goal) {
      const int first = state.table.committed();
      const int rows = std::min(kCatchUpRows, goal - first);
      task.status = state.table.Reserve(rows);
      if (!task.status.ok()) break;
      ForwardBatch batch;
      for (int i = 0; i < rows; ++i) batch.rows.push_back({.token = task.committed[first + i]});
      batch.segments.push_back({&state.table, 0, rows, true});
      task.status = model_.Forward(batch).status();
      if (!task.status.ok()) break;
      state.table.CommitAll();
      state.cached.insert(state.cached.end(), task.committed.begin() + first,
                          task.committed.begin() + first + rows);
    }
  }

  // One more token for every live chain; those that end leave `live`.
  void DraftStep(std::vector<DraftTask*>& live) {
    ForwardBatch batch;
    for (DraftTask* task : live) {
      ChainState& state = StateOf(*task);
      task->status = state.table.Reserve(1);
      if (!task->status.ok()) continue;
      const bool argmax_will_do =
          !Draws(*task->sampling) && task->sampling->plain_argmax() && options_.min_confidence == 0;
      batch.segments.push_back({&state.table, static_cast<int32_t>(batch.rows.size()), 1, true});
      batch.rows.push_back({.token = task->tree->node(task->tree->size() - 1).token,
                            .wanted = argmax_will_do ? WantedOutput::kArgmax : WantedOutput::kFull});
    }
    std::erase_if(live, [](const DraftTask* task) { return !task->status.ok(); });
    const absl::StatusOr<ForwardResult> result = model_.Forward(batch);
    if (!result.ok()) {  // a model that cannot draft ends these requests, not the run
      for (DraftTask* task : live) task->status = result.status();
      live.clear();
      return;
    }
    for (std::size_t i = 0; i < live.size(); ++i) {
      ChainState& state = StateOf(*live[i]);
      state.table.CommitAll();
      state.cached.push_back(batch.rows[i].token);
      if (!Extend(*live[i], result->rows[i])) live[i] = nullptr;
    }
    std::erase(live, nullptr);
  }

  // Adds the next token; false where the chain ends here.
  bool Extend(DraftTask& task, const RowOutput& output) {
    TokenTree& tree = *task.tree;
    const int parent = tree.size() - 1;
    if (output.logits.empty()) {
      tree.Add(parent, output.argmax);
      return tree.num_drafted() < task.budget;
    }
    if (options_.min_confidence > 0 && BestProbability(output.logits) < options_.min_confidence) return false;
    Sampling sampling = *task.sampling;
    if (options_.sampling == DraftSampling::kGreedy) sampling.temperature = 0;
    const std::vector<TokenId> path = tree.PathTokens(parent);
    Distribution q = Distribution::FromLogits(
        output.logits, sampling,
        {task.committed.first(task.prompt_length), task.committed.subspan(task.prompt_length), path});
    tree.Add(parent, Choose(task, q, parent));
    if (Draws(*task.sampling)) tree.SetProposal(parent, Proposal::kSampled, std::move(q));
    return tree.num_drafted() < task.budget;
  }

  TokenId Choose(const DraftTask& task, const Distribution& q, int parent) const {
    if (!Draws(*task.sampling)) return q.Argmax();
    const uint64_t seed = task.sampling->seed;
    const uint64_t committed = task.committed.size();
    if (options_.sampling == DraftSampling::kCoupled) {
      return q.DrawRace(TargetDrawKey(seed, task.request, static_cast<int64_t>(committed) + parent));
    }
    return q.DrawAt(
        Uniform({seed, task.request, committed, static_cast<uint64_t>(parent + 1), Purpose::kDraft}));
  }

  Model& model_;
  KvPool& pool_;
  ModelChainOptions options_;
};

}  // namespace

std::unique_ptr<Drafter> MakeModelChainDrafter(Model& model, KvPool& pool, ModelChainOptions options) {
  return std::make_unique<ModelChainDrafter>(model, pool, std::move(options));
}

}  // namespace forerun
