// Drafters made of drafters: what `merged` and `adaptive` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "core/engine/drafter.h"
#include "drafters/registry.h"

namespace forerun {

struct DrafterPart {
  std::unique_ptr<Drafter> drafter;
  double number = 0;  // what the whole has to say about this part

  std::string note() const;  // its name and its own note
};

// One for each object of `list` (or of `otherwise`, where it is null): a drafter object with one more member,
// `number`, from `least` to `most`. `where`: the list's place in the config.
struct PartNumber {
  const char* name;
  double otherwise, least, most;
};
absl::StatusOr<std::vector<DrafterPart>> MakeParts(const Json* list, absl::string_view otherwise,
                                                   absl::string_view where, const PartNumber& number,
                                                   const DrafterResources& resources);

struct PartStates : DrafterState {
  std::vector<std::unique_ptr<DrafterState>> parts;
};
absl::Status OpenParts(const std::vector<DrafterPart>& parts, PartStates* states);

// What `part` is asked where `whole` is asked for more: at most `budget` nodes in `tree`.
DraftTask PartTask(const DraftTask& whole, const Drafter& part, DrafterState* state, int budget,
                   TokenTree* tree);

// The most that any of them wants.
int EvidenceTopK(const std::vector<DrafterPart>& parts);
bool AnyLearns(const std::vector<DrafterPart>& parts);

}  // namespace forerun
