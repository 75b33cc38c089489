#include "experiments/config/config_overrides.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

std::string Members(const Json& object) {
  std::vector<std::string> names;
  for (const auto& member : object.items()) names.push_back(member.key());
  return absl::StrJoin(names, ", ");
}

// The child of `node` called `step`; null where an object lacks it.
absl::StatusOr<Json*> Child(Json* node, const std::string& step, absl::string_view where) {
  if (node->is_object()) {
    const auto found = node->find(step);
    return found == node->end() ? nullptr : &*found;
  }
  if (!node->is_array()) return absl::InvalidArgumentError(absl::StrCat(where, ": has no members"));
  std::size_t index = 0;
  if (absl::SimpleAtoi(step, &index) && index < node->size()) return &(*node)[index];
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": expected an index below ", node->size(), ", found \"", step, "\""));
}

}  // namespace

absl::Status ApplyOverride(absl::string_view assignment, Json* config) {
  const std::vector<std::string> sides = absl::StrSplit(assignment, absl::MaxSplits('=', 1));
  if (sides.size() != 2 || sides[0].empty()) {
    return absl::InvalidArgumentError(absl::StrCat("--set ", assignment, ": expected path=value"));
  }
  absl::StatusOr<Json> value = ParseJson(sides[1], "");
  if (!value.ok()) value = Json(sides[1]);

  const std::vector<std::string> steps = absl::StrSplit(sides[0], '.');
  Json* node = config;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string where = absl::StrCat("--set ", sides[0]);
    FORERUN_ASSIGN_OR_RETURN(Json * child, Child(node, steps[i], where));
    const bool last = i + 1 == steps.size();
    if (child == nullptr && !last) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": there is no \"", steps[i], "\"; there are ", Members(*node)));
    }
    if (child == nullptr) child = &(*node)[steps[i]];
    node = child;
  }
  *node = *std::move(value);
  return absl::OkStatus();
}

}  // namespace forerun
