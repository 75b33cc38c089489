// Lists of token ids in JSON: the one reader of them, so that an id too wide for a TokenId is refused
// everywhere and never wraps.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/json.h"
#include "core/base/types.h"

namespace forerun {

// InvalidArgument "<where>: expected ..., found ..." for anything but a list of integers from 0 to the
// largest TokenId. Whether a model has such a token is not asked.
absl::StatusOr<std::vector<TokenId>> ReadTokenIds(const Json& list, absl::string_view where);

}  // namespace forerun
