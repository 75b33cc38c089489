// Adaptive speculation: one of several drafters, and how much it shall draft, chosen anew for each round of
// each sequence by what its earlier rounds came to (adaptive_policy.h). Under "cost_model" drafters that cost
// next to nothing are asked first, every round: the choice is made between what they have at hand and what a
// dearer one may be expected to draft, and the text shows afterwards what each offer would have been worth.
// Costs are in plain decoding steps: those of the config, or measured once at start-up (adaptive_costs.h).
// Cold for each request.
#include <algorithm>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "drafters/joined/adaptive_costs.h"
#include "drafters/joined/adaptive_policy.h"
#include "drafters/joined/drafter_parts.h"

namespace forerun {
namespace {

constexpr char kParts[] = "drafter.parts", kWhere[] = "drafter.adaptive";

constexpr double kNextToNothing = 0.02;  // of a plain decoding step

struct AdaptiveState final : PartStates {
  std::unique_ptr<AdaptivePolicy> policy;
  DraftArm arm;                               // of the last draft
  std::size_t drafted_at = 0;                 // committed tokens then
  std::vector<std::vector<TokenId>> offered;  // [parts] chains at hand then
};

AdaptiveState& StateOf(const DraftTask& task) { return *static_cast<AdaptiveState*>(task.state); }

class AdaptiveDrafter final : public Drafter {
 public:
  // `costs`: where they are from.
  AdaptiveDrafter(std::vector<DrafterPart> parts, const AdaptiveOptions& options, std::string costs)
      : parts_(std::move(parts)), options_(options), costs_(std::move(costs)) {}

  absl::string_view name() const override { return "adaptive"; }
  Proposal proposal(const Sampling& sampling) const override { return parts_[0].drafter->proposal(sampling); }
  bool chains_only() const override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const DrafterPart& part) { return part.drafter->chains_only(); });
  }
  bool coupled(const Sampling& sampling) const override {
    return std::any_of(parts_.begin(), parts_.end(),
                       [&](const DrafterPart& part) { return part.drafter->coupled(sampling); });
  }
  int evidence_top_k() const override { return std::max(1, EvidenceTopK(parts_)); }
  std::string note() const override {
    const auto add = [](std::string* out, const DrafterPart& part) { absl::StrAppend(out, part.note()); };
    return absl::StrCat(options_.method, " by ", costs_, " costs of ", absl::StrJoin(parts_, ", ", add));
  }
  bool learns() const override { return AnyLearns(parts_); }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override {
    auto state = std::make_unique<AdaptiveState>();
    FORERUN_RETURN_IF_ERROR(OpenParts(parts_, state.get()));
    state->policy = MakeAdaptivePolicy(options_);
    state->offered.resize(parts_.size());
    return state;
  }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) Learn(task);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (AtHand(part)) FORERUN_RETURN_IF_ERROR(AskFirst(part, tasks));
    }
    for (DraftTask& task : tasks) {
      if (task.budget > 0 && task.status.ok()) Choose(task);
    }
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (!AtHand(part)) FORERUN_RETURN_IF_ERROR(Ask(part, tasks));
    }
    return absl::OkStatus();
  }

 private:
  bool AtHand(std::size_t part) const {
    return options_.method == "cost_model" && options_.draft_costs[part] <= kNextToNothing &&
           parts_[part].drafter->proposal({.temperature = 1}) == Proposal::kDeterministic;
  }

  static void Learn(const DraftTask& task) {
    AdaptiveState& state = StateOf(task);
    const std::span<const EvidenceRow> rows = task.evidence;
    if (rows.empty() || rows[0].position + 1 != static_cast<int64_t>(state.drafted_at)) return;
    const std::span<const TokenId> written = task.committed.subspan(state.drafted_at);
    for (std::size_t part = 0; part < state.offered.size(); ++part) {
      const std::vector<TokenId>& offer = state.offered[part];
      const auto compared = std::min(offer.size(), written.size());
      const auto differ = std::mismatch(offer.begin(), offer.begin() + compared, written.begin()).first;
      const int stood = static_cast<int>(differ - offer.begin());
      const int examined = std::min<int>(stood + 1, static_cast<int>(compared));
      state.policy->LearnOffer(static_cast<int>(part), static_cast<int>(offer.size()), examined, stood);
    }
    const auto committed =
        std::count_if(rows.begin(), rows.end(), [](const EvidenceRow& row) { return row.committed; });
    state.policy->Learn(state.arm, {.drafted = static_cast<int>(rows.size()) - 1,
                                    .accepted = static_cast<int>(committed) - 1});
    state.drafted_at = 0;
  }

  // What a part has at hand for every task, in trees of their own.
  absl::Status AskFirst(std::size_t part, std::span<DraftTask> tasks) {
    Drafter& drafter = *parts_[part].drafter;
    std::vector<DraftTask> part_tasks;
    std::vector<TokenTree> trees;
    for (const DraftTask& task : tasks) trees.emplace_back(task.tree->node(0).token);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const int budget = std::min(tasks[i].budget, options_.lengths.back());
      part_tasks.push_back(
          PartTask(tasks[i], drafter, StateOf(tasks[i]).parts[part].get(), budget, &trees[i]));
    }
    FORERUN_RETURN_IF_ERROR(drafter.Propose(part_tasks));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].status.ok()) tasks[i].status = part_tasks[i].status;
      StateOf(tasks[i]).offered[part] = trees[i].PathTokens(trees[i].size() - 1);
    }
    return absl::OkStatus();
  }

  void Choose(DraftTask& task) {
    AdaptiveState& state = StateOf(task);
    std::vector<int> offered;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      offered.push_back(AtHand(part) ? static_cast<int>(state.offered[part].size()) : kNotAsked);
    }
    state.arm = state.policy->Choose(task.budget, offered);
    state.drafted_at = task.committed.size();
    if (!AtHand(state.arm.part)) return;
    for (int i = 0; i < state.arm.length; ++i) task.tree->Add(i, state.offered[state.arm.part][i]);
  }

  // The tasks that this part shall draft for; the others where it wants their prompt or their evidence.
  absl::Status Ask(std::size_t part, std::span<DraftTask> tasks) {
    Drafter& drafter = *parts_[part].drafter;
    std::vector<DraftTask*> asked;
    std::vector<DraftTask> part_tasks;
    for (DraftTask& task : tasks) {
      AdaptiveState& state = StateOf(task);
      const bool chosen = task.budget > 0 && state.arm.part == static_cast<int>(part) && state.arm.length > 0;
      if (!task.status.ok() || !(chosen || task.budget == 0 || drafter.evidence_top_k() > 0)) continue;
      asked.push_back(&task);
      part_tasks.push_back(
          PartTask(task, drafter, state.parts[part].get(), chosen ? state.arm.length : 0, task.tree));
    }
    if (part_tasks.empty()) return absl::OkStatus();
    FORERUN_RETURN_IF_ERROR(drafter.Propose(part_tasks));
    for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->status = part_tasks[i].status;
    return absl::OkStatus();
  }

  std::vector<DrafterPart> parts_;  // number: the cost of a drafted node
  AdaptiveOptions options_;
  std::string costs_;
};

struct AdaptiveConfig {
  AdaptiveOptions options;
  std::string costs = "configured";
};

absl::StatusOr<AdaptiveConfig> ReadAdaptive(ObjectReader& options) {
  AdaptiveConfig config;
  const Json* own = options.Object("adaptive");
  if (own == nullptr) return config;
  AdaptiveOptions& adaptive = config.options;
  ObjectReader reader(*own, kWhere);
  adaptive.method =
      reader.Choice("method", adaptive.method, {"confidence", "heuristic", "cost_model", "bandit"});
  if (reader.Has("lengths")) {
    adaptive.lengths = reader.Ints("lengths", 0, 256);
    const auto falls =
        std::adjacent_find(adaptive.lengths.begin(), adaptive.lengths.end(), std::greater_equal<>());
    if (adaptive.lengths.empty() || falls != adaptive.lengths.end())
      reader.Fail("lengths", "a list of rising numbers");
  }
  ReadVerifyCost(reader, &adaptive);
  config.costs = reader.Choice("costs", config.costs, {"configured", "measured"});
  if (config.costs == "measured" && reader.Has("verify_cost"))
    reader.Fail("verify_cost", "none with measured costs");
  adaptive.threshold = reader.Number("threshold", adaptive.threshold, 0, 1);
  adaptive.explore = reader.Number("explore", adaptive.explore, 0, 100);
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  return config;
}

// What a method cannot do with these parts.
absl::Status CheckParts(const std::vector<DrafterPart>& parts, const std::string& method) {
  const bool one = method == "heuristic" || method == "confidence";
  if (one && parts.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(kParts, ": method ", method, " expects one drafter, found ", parts.size()));
  }
  const Sampling sampling{.temperature = 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Drafter& drafter = *parts[i].drafter;
    if (!drafter.chains_only() && method != "bandit") {
      return absl::InvalidArgumentError(absl::StrCat(kParts, ".", i, ": method ", method,
                                                     " expects chains, found ", drafter.name(),
                                                     "; bandit takes trees"));
    }
    const Proposal first = parts[0].drafter->proposal(sampling), own = drafter.proposal(sampling);
    if (own == first) continue;
    return absl::InvalidArgumentError(absl::StrCat(kParts, ".", i, ": expected ", ProposalName(first),
                                                   " guesses as of the first drafter, found ",
                                                   ProposalName(own), " ones of ", drafter.name()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeAdaptiveDrafter(ObjectReader& options,
                                                             const DrafterResources& resources) {
  const Json* const list = options.Array("parts");
  FORERUN_ASSIGN_OR_RETURN(AdaptiveConfig config, ReadAdaptive(options));
  const bool measured = config.costs == "measured";
  for (std::size_t i = 0; measured && list != nullptr && i < list->size(); ++i) {
    if (!(*list)[i].is_object() || !(*list)[i].contains("draft_cost")) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(kParts, ".", i, ".draft_cost: expected none with measured costs, found one"));
  }
  FORERUN_ASSIGN_OR_RETURN(
      std::vector<DrafterPart> parts,
      MakeParts(list, R"([{"type": "ngram"}])", kParts,
                {.name = "draft_cost", .otherwise = 0, .least = 0, .most = 1000}, resources));
  FORERUN_RETURN_IF_ERROR(CheckParts(parts, config.options.method));
  config.options.draft_costs.clear();
  for (const DrafterPart& part : parts) config.options.draft_costs.push_back(part.number);
  if (measured) FORERUN_RETURN_IF_ERROR(MeasureCosts(parts, resources, &config.options));
  return std::make_unique<AdaptiveDrafter>(std::move(parts), config.options, config.costs);
}

}  // namespace forerun
