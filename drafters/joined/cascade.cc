// Cascade Speculative Drafting (Chen et al. 2023, arXiv:2312.11462), the vertical cascade: prompt lookup
// drafts for the draft model, which reads several guesses in one forward, keeps those that are its own best
// tokens and adds one. The chain is the one that `draft_model` would write, for fewer forwards. And a
// shortcut: a match of many words needs no second opinion, its continuation goes straight to the target; the
// draft model reads it later, in the forward of its next step.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/lookup/lookup.h"
#include "drafters/reading/chain_reader.h"
#include "drafters/reading/greedy_choice.h"
#include "drafters/reading/shortlist_file.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

struct CascadeOptions {
  LookupRange lookup{.least = 2, .most = 8};
  int lookup_tokens = 4;  // guesses a draft forward
  int direct_min = 6;     // words of a match that needs no second opinion; 0: none is that long
  double min_confidence = 0;
  std::shared_ptr<const Shortlist> shortlist;
};

class CascadeDrafter final : public Drafter {
 public:
  CascadeDrafter(Model& model, KvPool& pool, const CascadeOptions& options)
      : options_(options), reader_(model, pool, options.shortlist) {}

  absl::string_view name() const override { return "cascade"; }
  std::string note() const override { return reader_.Note(); }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return reader_.Open(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    std::vector<DraftTask*> live;
    for (DraftTask& task : tasks) {
      if (task.budget == 0) {
        reader_.CatchUp(task);
      } else {
        live.push_back(&task);
      }
    }
    while (!live.empty()) DraftStep(live);
    return absl::OkStatus();
  }

 private:
  // Every live chain grows by at least one token or leaves `live`.
  void DraftStep(std::vector<DraftTask*>& live) {
    std::vector<ReadStep> steps;
    for (DraftTask* task : live) {
      const std::vector<TokenId> guesses = LookUp(*task);
      const int left = task->budget - task->tree->num_drafted();
      if (left == 0 || !reader_.HasRoom(*task)) continue;
      steps.push_back({.task = task,
                       .guesses = guesses,
                       .wanted = WantedForGreedy(*task->sampling, options_.min_confidence),
                       .outputs = {}});
    }
    live.clear();
    if (steps.empty()) return;
    reader_.Read(steps);
    for (const ReadStep& step : steps) {
      if (step.task->status.ok() && Check(step)) live.push_back(step.task);
    }
  }

  // Drafts what long matches say; returns what a shorter one would say next.
  std::vector<TokenId> LookUp(DraftTask& task) const {
    std::vector<TokenId> text = TextOf(task);
    while (true) {
      const int left = task.budget - task.tree->num_drafted();
      const LookupMatch match = FindLatestMatch(text, options_.lookup);
      const bool direct = options_.direct_min > 0 && match.length >= options_.direct_min;
      // The model's own token comes after its guesses, so the last place is never a guess's.
      const std::span<const TokenId> found =
          Continuation(text, match, direct ? left : std::min(left - 1, options_.lookup_tokens));
      const std::vector<TokenId> next(found.begin(), found.end());
      if (!direct || left == 0) return next;
      for (const TokenId token : next) task.tree->Add(task.tree->size() - 1, token);
      text.insert(text.end(), next.begin(), next.end());
    }
  }

  // Keeps the guesses that the model agrees with, then its own token; false where the chain ends here.
  bool Check(const ReadStep& step) const {
    DraftTask& task = *step.task;
    TokenTree& tree = *task.tree;
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      const int parent = tree.size() - 1;
      const std::optional<TokenId> best =
          GreedyChoice(task, tree.PathTokens(parent), step.outputs[i], options_.min_confidence);
      if (!best) return false;
      tree.Add(parent, *best);
      if (i == step.guesses.size() || *best != step.guesses[i]) break;
    }
    return tree.num_drafted() < task.budget;
  }

  CascadeOptions options_;
  ChainReader reader_;
};

absl::Status ReadCascade(const Json& json, CascadeOptions* cascade) {
  constexpr char kWhere[] = "drafter.cascade";
  ObjectReader reader(json, kWhere);
  absl::StatusOr<LookupRange> range = ReadLookupRange(reader, kWhere, cascade->lookup);
  cascade->lookup_tokens = static_cast<int>(reader.Int("lookup_tokens", cascade->lookup_tokens, 0, 64));
  cascade->direct_min = static_cast<int>(reader.Int("direct_min", cascade->direct_min, 0, kLongestNgram));
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  FORERUN_ASSIGN_OR_RETURN(cascade->lookup, std::move(range));
  if (cascade->direct_min <= cascade->lookup.most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(kWhere, ": expected direct_min <= max, found direct_min ",
                                                 cascade->direct_min, " and max ", cascade->lookup.most));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeCascadeDrafter(ObjectReader& options,
                                                            const DrafterResources& resources) {
  CascadeOptions cascade;
  if (const Json* own = options.Object("cascade")) FORERUN_RETURN_IF_ERROR(ReadCascade(*own, &cascade));
  cascade.min_confidence = options.Number("min_confidence", 0, 0, 1);
  FORERUN_ASSIGN_OR_RETURN(cascade.shortlist, ShortlistOption(options, *resources.draft));
  return std::make_unique<CascadeDrafter>(*resources.draft, *resources.pool, cascade);
}

}  // namespace forerun
