#include "experiments/base/token_ids.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace forerun {
namespace {

constexpr TokenId kLargest = std::numeric_limits<TokenId>::max();

bool IsTokenId(const Json& id) {
  if (id.is_number_unsigned()) return id.get<uint64_t>() <= static_cast<uint64_t>(kLargest);
  return id.is_number_integer() && id.get<int64_t>() >= 0 && id.get<int64_t>() <= kLargest;
}

}  // namespace

absl::StatusOr<std::vector<TokenId>> ReadTokenIds(const Json& list, absl::string_view where) {
  if (!list.is_array())
    return absl::InvalidArgumentError(absl::StrCat(where, ": expected a list of token ids"));
  std::vector<TokenId> ids;
  for (const Json& id : list) {
    if (!IsTokenId(id)) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": expected token ids from 0 to ", kLargest, ", found ",
                       id.is_structured() ? std::string(id.type_name()) : DumpJson(id)));
    }
    ids.push_back(id.get<TokenId>());
  }
  return ids;
}

}  // namespace forerun
