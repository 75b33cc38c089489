// Several drafters' guesses in one tree (SpecInfer; Miao et al. 2023, arXiv:2305.09781: collective boosting):
// what they agree on is one node. Each part in turn may use its share of the budget that is left, where
// shares are relative to those of the parts still to come: what one leaves over goes to the next. Only for
// drafters whose guesses are deterministic, since no rule knows of children of two kinds.
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "drafters/joined/drafter_parts.h"

namespace forerun {
namespace {

constexpr char kWhere[] = "drafter.parts";

// Nodes of `from` by path; equal paths are one node.
void Merge(const TokenTree& from, TokenTree& into) {
  std::vector<int> place{0};  // [nodes of `from`] in `into`
  for (const TokenTree::Node& node : from.nodes().subspan(1)) {
    const int parent = place[node.parent];
    int found = -1;
    for (const int child : into.Children(parent)) {
      if (into.node(child).token == node.token) found = child;
    }
    place.push_back(found >= 0 ? found : into.Add(parent, node.token));
  }
}

class MergedDrafter final : public Drafter {
 public:
  explicit MergedDrafter(std::vector<DrafterPart> parts) : parts_(std::move(parts)) {}

  absl::string_view name() const override { return "merged"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  bool chains_only() const override { return false; }
  int evidence_top_k() const override { return EvidenceTopK(parts_); }
  std::string note() const override {
    return absl::StrJoin(
        parts_, " + ", [](std::string* out, const DrafterPart& part) { absl::StrAppend(out, part.note()); });
  }
  bool learns() const override { return AnyLearns(parts_); }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override {
    auto states = std::make_unique<PartStates>();
    FORERUN_RETURN_IF_ERROR(OpenParts(parts_, states.get()));
    return states;
  }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    double shares_left = 0;
    for (const DrafterPart& part : parts_) shares_left += part.number;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      FORERUN_RETURN_IF_ERROR(Ask(part, parts_[part].number / shares_left, tasks));
      shares_left -= parts_[part].number;
    }
    return absl::OkStatus();
  }

 private:
  // Adds what one part proposes, which may use `share` of what is left.
  absl::Status Ask(std::size_t part, double share, std::span<DraftTask> tasks) {
    Drafter& drafter = *parts_[part].drafter;
    const bool last = part + 1 == parts_.size();  // whatever sums of shares round to
    std::vector<TokenTree> trees;
    std::vector<DraftTask*> asked;
    std::vector<int> budgets;
    for (DraftTask& task : tasks) {
      const int left = task.budget - task.tree->num_drafted();
      const int budget = last ? left : static_cast<int>(std::ceil(share * left));
      // Without a budget: to catch up with a prompt, or to look at evidence.
      const bool of_use = budget > 0 || task.budget == 0 || drafter.evidence_top_k() > 0;
      if (!task.status.ok() || !of_use) continue;
      trees.emplace_back(task.tree->node(0).token);
      asked.push_back(&task);
      budgets.push_back(budget);
    }
    std::vector<DraftTask> part_tasks;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      DrafterState* state = static_cast<PartStates*>(asked[i]->state)->parts[part].get();
      part_tasks.push_back(PartTask(*asked[i], drafter, state, budgets[i], &trees[i]));
    }
    if (part_tasks.empty()) return absl::OkStatus();
    FORERUN_RETURN_IF_ERROR(drafter.Propose(part_tasks));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      asked[i]->status = part_tasks[i].status;
      if (asked[i]->status.ok()) Merge(trees[i], *asked[i]->tree);
    }
    return absl::OkStatus();
  }

  std::vector<DrafterPart> parts_;  // number: the share
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeMergedDrafter(ObjectReader& options,
                                                           const DrafterResources& resources) {
  FORERUN_ASSIGN_OR_RETURN(
      std::vector<DrafterPart> parts,
      MakeParts(options.Array("parts"), R"([{"type": "ngram"}, {"type": "token_recycling"}])", kWhere,
                {.name = "share", .otherwise = 1, .least = 0.001, .most = 1000}, resources));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Proposal proposal = parts[i].drafter->proposal(Sampling{.temperature = 1});
    if (proposal == Proposal::kDeterministic) continue;
    return absl::InvalidArgumentError(absl::StrCat(kWhere, ".", i, ": expected deterministic guesses, found ",
                                                   ProposalName(proposal), " ones of ",
                                                   parts[i].drafter->name()));
  }
  return std::make_unique<MergedDrafter>(std::move(parts));
}

}  // namespace forerun
