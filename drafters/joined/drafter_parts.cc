#include "drafters/joined/drafter_parts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {

std::string DrafterPart::note() const {
  const std::string own = drafter->note();
  return own.empty() ? std::string(drafter->name()) : absl::StrCat(drafter->name(), " (", own, ")");
}

absl::StatusOr<std::vector<DrafterPart>> MakeParts(const Json* list, absl::string_view otherwise,
                                                   absl::string_view where, const PartNumber& number,
                                                   const DrafterResources& resources) {
  FORERUN_ASSIGN_OR_RETURN(const Json objects,
                           list != nullptr ? absl::StatusOr<Json>(*list) : ParseJson(otherwise, where));
  if (objects.empty())
    return absl::InvalidArgumentError(absl::StrCat(where, ": expected at least one drafter, found none"));
  std::vector<DrafterPart> parts;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::string here = absl::StrCat(where, ".", i);
    Json ours = Json::object(), drafter = objects[i];
    if (drafter.is_object() && drafter.contains(number.name)) {
      ours[number.name] = drafter[number.name];
      drafter.erase(number.name);
    }
    ObjectReader reader(ours, here);
    DrafterPart& part = parts.emplace_back();
    part.number = reader.Number(number.name, number.otherwise, number.least, number.most);
    FORERUN_RETURN_IF_ERROR(reader.Finish());
    absl::StatusOr<std::unique_ptr<Drafter>> made = MakeDrafter(drafter, resources);
    if (!made.ok())
      return absl::Status(made.status().code(), absl::StrCat(here, ": ", made.status().message()));
    part.drafter = *std::move(made);
    if (!part.drafter->taps().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(here, ".type: \"", part.drafter->name(),
                                                     "\" reads hidden states and cannot be a part"));
    }
  }
  return parts;
}

absl::Status OpenParts(const std::vector<DrafterPart>& parts, PartStates* states) {
  for (const DrafterPart& part : parts) {
    FORERUN_ASSIGN_OR_RETURN(std::unique_ptr<DrafterState> state, part.drafter->Open());
    states->parts.push_back(std::move(state));
  }
  return absl::OkStatus();
}

DraftTask PartTask(const DraftTask& whole, const Drafter& part, DrafterState* state, int budget,
                   TokenTree* tree) {
  DraftTask task = whole;
  task.state = state;
  task.budget = part.chains_only() ? std::min(budget, whole.max_depth) : budget;
  task.tree = tree;
  if (part.evidence_top_k() == 0) task.evidence = {};
  return task;
}

bool AnyLearns(const std::vector<DrafterPart>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [](const DrafterPart& part) { return part.drafter->learns(); });
}

int EvidenceTopK(const std::vector<DrafterPart>& parts) {
  int most = 0;
  for (const DrafterPart& part : parts) most = std::max(most, part.drafter->evidence_top_k());
  return most;
}

}  // namespace forerun
