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

struct DrafterInfo {
  const char* key;
  const char* description;
  bool needs_draft_model = false;
  bool any_vocabulary = false;  // the draft model's need not be the target's
  // Heads trained for the target, in files that the option "heads" names; and a target with a Backbone.
  bool needs_heads = false;
};
const std::vector<DrafterInfo>& ListDrafters();

// `options`: the config's "drafter" object without num_speculative_tokens and model, e.g.
// {"type": "ngram", "ngram": {"min": 1, "max": 3}}. InvalidArgument for an unknown type or option, or a draft
// model that the drafter cannot use.
absl::StatusOr<std::unique_ptr<Drafter>> MakeDrafter(const Json& options, const DrafterResources& resources);

}  // namespace forerun
