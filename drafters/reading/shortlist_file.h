// A draft-head shortlist as a file: {"ranges": [[first, last], ...], "vocab_size": N}, inclusive and
// ascending.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/json.h"
#include "core/model/model.h"

namespace forerun {

// The ids of `json`, ascending. InvalidArgument in one line, starting with `where`.
absl::StatusOr<std::vector<TokenId>> ReadShortlist(const Json& json, absl::string_view where, int vocab_size);

// What the drafter option "shortlist" names, made for `model`; null where the option is missing.
absl::StatusOr<std::shared_ptr<const Shortlist>> ShortlistOption(ObjectReader& options, Model& model);

// What tables say of it: "shortlist 32768 of 151936"; empty where null.
std::string ShortlistNote(const Shortlist* shortlist);

}  // namespace forerun
