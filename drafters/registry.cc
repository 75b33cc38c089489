#include "drafters/registry.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"

namespace forerun {

#define DRAFTER(Name, key, description, needs)                                        \
  absl::StatusOr<std::unique_ptr<Drafter>> Make##Name##Drafter(ObjectReader& options, \
                                                               const DrafterResources& resources);
#include "drafters/drafter_list.inc"
#undef DRAFTER

namespace {

using Maker = absl::StatusOr<std::unique_ptr<Drafter>> (*)(ObjectReader&, const DrafterResources&);
struct Entry {
  DrafterInfo info;
  Maker make;
};

const std::vector<Entry>& Entries() {
#define DRAFTER(Name, key, description, needs) {{key, description, DrafterNeeds::needs}, Make##Name##Drafter},
  static const std::vector<Entry>& entries = *new std::vector<Entry>{
#include "drafters/drafter_list.inc"
  };
#undef DRAFTER
  return entries;
}

absl::Status CheckDraftModel(const DrafterInfo& info, const DrafterResources& resources) {
  if (!info.needs_draft_model()) return absl::OkStatus();
  if (resources.draft == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("drafter.type: \"", info.key, "\" needs a draft model, found none"));
  }
  const bool texts = resources.target_tokenizer != nullptr && resources.draft_tokenizer != nullptr;
  if (info.needs == DrafterNeeds::kAnyDraftModel || !texts) return absl::OkStatus();
  return CheckSameVocabulary(*resources.target_tokenizer, *resources.draft_tokenizer);
}

absl::Status CheckBackbone(const DrafterInfo& info, const DrafterResources& resources) {
  const bool has = resources.target != nullptr && resources.target->backbone() != nullptr;
  if (info.needs != DrafterNeeds::kHeads || has) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("drafter.type: \"", info.key, "\" needs a target with hidden states, found one without"));
}

}  // namespace

const char* NeedsText(DrafterNeeds needs) {
  switch (needs) {
    case DrafterNeeds::kNothing:
      return "";
    case DrafterNeeds::kDraftModel:
      return "a draft model";
    case DrafterNeeds::kAnyDraftModel:
      return "a draft model of any vocabulary";
    case DrafterNeeds::kHeads:
      return "heads";
    case DrafterNeeds::kCorpus:
      return "a corpus";
    case DrafterNeeds::kLog:
      return "an earlier run";
  }
  return "";
}

const std::vector<DrafterInfo>& ListDrafters() {
  static const std::vector<DrafterInfo>& list = *[] {
    auto* infos = new std::vector<DrafterInfo>;
    for (const Entry& entry : Entries()) infos->push_back(entry.info);
    return infos;
  }();
  return list;
}

absl::StatusOr<std::unique_ptr<Drafter>> MakeDrafter(const Json& options, const DrafterResources& resources) {
  ObjectReader reader(options, "drafter");
  std::vector<std::string> keys;
  for (const DrafterInfo& info : ListDrafters()) keys.push_back(info.key);
  const std::string type = reader.Choice("type", "", keys);
  for (const Entry& entry : Entries()) {
    if (type != entry.info.key) continue;
    FORERUN_RETURN_IF_ERROR(CheckDraftModel(entry.info, resources));
    FORERUN_RETURN_IF_ERROR(CheckBackbone(entry.info, resources));
    absl::StatusOr<std::unique_ptr<Drafter>> drafter = entry.make(reader, resources);
    FORERUN_RETURN_IF_ERROR(
        reader.Finish());  // what is wrong with the options comes before what came of them
    return drafter;
  }
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  return absl::InvalidArgumentError(
      absl::StrCat("drafter.type: expected one of ", absl::StrJoin(keys, ", "), ", found none"));
}

}  // namespace forerun
