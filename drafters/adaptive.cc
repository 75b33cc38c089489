// Adaptive speculation: one of several drafters, and how much it shall draft, chosen anew for each round of
// each sequence by what its earlier rounds came to (adaptive_policy.h). Costs are those of the config, in
// plain decoding steps; nothing is timed. Cold for each request.
#include <algorithm>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "drafters/adaptive_policy.h"
#include "drafters/drafter_parts.h"

namespace forerun {
namespace {

constexpr char kParts[] = "drafter.parts", kWhere[] = "drafter.adaptive";

struct AdaptiveState final : PartStates {
  std::unique_ptr<AdaptivePolicy> policy;
  DraftArm arm;                // of the last draft
  std::size_t drafted_at = 0;  // committed tokens then
};

AdaptiveState& StateOf(const DraftTask& task) { return *static_cast<AdaptiveState*>(task.state); }

class AdaptiveDrafter final : public Drafter {
 public:
  AdaptiveDrafter(std::vector<DrafterPart> parts, const AdaptiveOptions& options)
      : parts_(std::move(parts)), options_(options) {}

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
    return absl::StrCat(options_.method, " by configured costs of ", absl::StrJoin(parts_, ", ", add));
  }
  bool learns() const override { return AnyLearns(parts_); }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override {
    auto state = std::make_unique<AdaptiveState>();
    FORERUN_RETURN_IF_ERROR(OpenParts(parts_, state.get()));
    state->policy = MakeAdaptivePolicy(options_);
    return state;
  }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      Learn(task);
      if (task.budget == 0) continue;
      AdaptiveState& state = StateOf(task);
      state.arm = state.policy->Choose(task.budget);
      state.drafted_at = task.committed.size();
    }
    for (std::size_t part = 0; part < parts_.size(); ++part) FORERUN_RETURN_IF_ERROR(Ask(part, tasks));
    return absl::OkStatus();
  }

 private:
  static void Learn(const DraftTask& task) {
    AdaptiveState& state = StateOf(task);
    const std::span<const EvidenceRow> rows = task.evidence;
    if (rows.empty() || rows[0].position + 1 != static_cast<int64_t>(state.drafted_at)) return;
    const auto committed =
        std::count_if(rows.begin(), rows.end(), [](const EvidenceRow& row) { return row.committed; });
    state.policy->Learn(state.arm, {.drafted = static_cast<int>(rows.size()) - 1,
                                    .accepted = static_cast<int>(committed) - 1});
    state.drafted_at = 0;
  }

  // The tasks that this part shall draft for; the others where it wants their prompt or their evidence.
  absl::Status Ask(std::size_t part, std::span<DraftTask> tasks) {
    Drafter& drafter = *parts_[part].drafter;
    std::vector<DraftTask*> asked;
    std::vector<DraftTask> part_tasks;
    for (DraftTask& task : tasks) {
      AdaptiveState& state = StateOf(task);
      const bool chosen = task.budget > 0 && state.arm.part == static_cast<int>(part);
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
};

void ReadCurve(const Json& list, ObjectReader& reader, AdaptiveOptions* options) {
  options->verify_cost.clear();
  bool good = list.size() >= 2;
  for (const Json& pair : list) {
    good = good && pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() &&
           pair[0].get<uint64_t>() <= 4096 && pair[1].is_number() && pair[1].get<double>() > 0;
    if (!good) break;
    const std::pair<int, double> point = {pair[0].get<int>(), pair[1].get<double>()};
    const std::pair<int, double> before =
        options->verify_cost.empty() ? std::pair(0, 0.0) : options->verify_cost.back();
    good = point.first > before.first && point.second >= before.second;
    options->verify_cost.push_back(point);
  }
  if (!good) reader.Fail("verify_cost", "[[rows, cost], ...], at least two, rows and costs rising");
}

absl::StatusOr<AdaptiveOptions> ReadAdaptive(ObjectReader& options) {
  AdaptiveOptions adaptive;
  const Json* own = options.Object("adaptive");
  if (own == nullptr) return adaptive;
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
  if (const Json* curve = reader.Array("verify_cost")) ReadCurve(*curve, reader, &adaptive);
  adaptive.threshold = reader.Number("threshold", adaptive.threshold, 0, 1);
  adaptive.explore = reader.Number("explore", adaptive.explore, 0, 100);
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  return adaptive;
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
  FORERUN_ASSIGN_OR_RETURN(AdaptiveOptions adaptive, ReadAdaptive(options));
  FORERUN_ASSIGN_OR_RETURN(
      std::vector<DrafterPart> parts,
      MakeParts(list, R"([{"type": "ngram"}])", kParts,
                {.name = "draft_cost", .otherwise = 0, .least = 0, .most = 1000}, resources));
  FORERUN_RETURN_IF_ERROR(CheckParts(parts, adaptive.method));
  adaptive.draft_costs.clear();
  for (const DrafterPart& part : parts) adaptive.draft_costs.push_back(part.number);
  return std::make_unique<AdaptiveDrafter>(std::move(parts), adaptive);
}

}  // namespace forerun
