#include "core/model/tree_parents.h"

#include "absl/strings/str_cat.h"

namespace forerun {

absl::StatusOr<std::vector<int>> TreeParents(const ForwardSegment& segment,
                                             std::span<const ForwardRow> rows) {
  if (segment.causal && !segment.written.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("forward batch: expected a tree after ",
                                                   segment.written.size(),
                                                   " written rows, found a causal segment"));
  }
  std::vector<int> parents(segment.written.begin(), segment.written.end());
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    parents.push_back(segment.causal ? i - 1 : rows[i].parent);
  }
  for (int row = 0; row < static_cast<int>(parents.size()); ++row) {
    if (parents[row] >= -1 && parents[row] < row) continue;
    return absl::InvalidArgumentError(absl::StrCat("forward batch: tree row ", row,
                                                   ": expected a parent from -1 to ", row - 1, ", found ",
                                                   parents[row]));
  }
  return parents;
}

std::vector<int> TreeDepths(std::span<const int> parents) {
  std::vector<int> depths;
  for (const int parent : parents) depths.push_back(parent < 0 ? 0 : depths[parent] + 1);
  return depths;
}

}  // namespace forerun
