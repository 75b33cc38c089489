// The one place where all drafters are listed: drafter_list.inc.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/json.h"
#include "core/engine/drafter.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"
#include "core/tokenizer/tokenizer.h"

namespace forerun {

// What a drafter may use. Everything outlives the drafter.
struct DrafterResources {
  Model* target = nullptr;
  Model* draft = nullptr;  // null where the experiment names no draft model
  KvPool* pool = nullptr;
  const Tokenizer* target_tokenizer = nullptr;  // null for models without text
  const Tokenizer* draft_tokenizer = nullptr;   // null where there is no draft model, or it has no text
};

// What a config must give a drafter, besides the target.
enum class DrafterNeeds {
  kNothing,
  kDraftModel,     // with the target's vocabulary
  kAnyDraftModel,  // with any vocabulary
  kHeads,          // trained for the target, in files that "heads" names; and a target with a Backbone
  kCorpus,         // "corpus": a file made by `forerun corpus build`
  kLog             // "replay.log": the directory of a run
};
const char* NeedsText(DrafterNeeds needs);  // "a draft model"; empty where it needs nothing

struct DrafterInfo {
  const char* key;
  const char* description;
  DrafterNeeds needs;
  bool needs_draft_model() const {
    return needs == DrafterNeeds::kDraftModel || needs == DrafterNeeds::kAnyDraftModel;
  }
  bool needs_files() const { return needs != DrafterNeeds::kNothing && !needs_draft_model(); }
};
const std::vector<DrafterInfo>& ListDrafters();

// `options`: the config's "drafter" object without num_speculative_tokens and model, e.g.
// {"type": "ngram", "ngram": {"min": 1, "max": 3}}. InvalidArgument for an unknown type or option, or a draft
// model that the drafter cannot use.
absl::StatusOr<std::unique_ptr<Drafter>> MakeDrafter(const Json& options, const DrafterResources& resources);

}  // namespace forerun
