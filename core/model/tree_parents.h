// Who follows whom among the reserved rows of a tree segment, rows that earlier forwards wrote included.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/model/forward_batch.h"

namespace forerun {

// `rows`: the segment's. [written + rows]: the parent of each reserved row, -1 for the committed context; a
// causal segment is a chain. InvalidArgument where a parent does not come before its child, or where a causal
// segment has written rows.
absl::StatusOr<std::vector<int>> TreeParents(const ForwardSegment& segment, std::span<const ForwardRow> rows);

// Of rows whose parents come before them: 0 after the committed context.
std::vector<int> TreeDepths(std::span<const int> parents);

}  // namespace forerun
