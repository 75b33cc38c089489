#include "core/tree/tree_shape.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"

namespace forerun {
namespace {

using RankPath = std::vector<int>;

absl::Status BadPath(const RankPath& path, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("tree paths: expected ", expected, ", found [", absl::StrJoin(path, ", "), "]"));
}

// By level, then by rank from the root down: parents and elder siblings come first.
bool LevelOrder(const RankPath& a, const RankPath& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

absl::StatusOr<TreeShape> TreeShape::FromWidths(std::span<const int> widths, int most_nodes) {
  TreeShape shape;
  int first = 0;  // of the level that gets children
  for (const int width : widths) {
    const int end = shape.size();
    if (width < 1 || static_cast<int64_t>(end - first) * width > most_nodes + 1 - end) {
      return absl::InvalidArgumentError(
          absl::StrCat("tree widths: expected numbers from 1 on that make at most ", most_nodes,
                       " nodes, found [", absl::StrJoin(widths, ", "), "]"));
    }
    for (int parent = first; parent < end; ++parent) {
      for (int rank = 0; rank < width; ++rank) shape.Add(parent);
    }
    first = end;
  }
  return shape;
}

absl::StatusOr<TreeShape> TreeShape::FromRankPaths(std::vector<RankPath> paths) {
  std::sort(paths.begin(), paths.end(), LevelOrder);
  TreeShape shape;
  std::map<RankPath, int> nodes = {{{}, 0}};
  for (const RankPath& path : paths) {
    if (path.empty() || nodes.count(path) > 0) return BadPath(path, "each node once, the root left out");
    const auto parent = nodes.find(RankPath(path.begin(), path.end() - 1));
    if (parent == nodes.end()) return BadPath(path, "the parent of every node");
    if (path.back() != shape.num_children(parent->second)) {
      return BadPath(path, "ranks from 0 on without a gap");
    }
    nodes[path] = shape.size();
    shape.Add(parent->second);
  }
  return shape;
}

TreeShape TreeShape::FromChildCounts(std::span<const int> children) {
  TreeShape shape;
  for (int parent = 0; parent < static_cast<int>(children.size()); ++parent) {
    FORERUN_CHECK(parent < shape.size());
    for (int rank = 0; rank < children[parent]; ++rank) shape.Add(parent);
  }
  FORERUN_CHECK(shape.size() == static_cast<int>(children.size()));
  return shape;
}

TreeShape TreeShape::Cut(int most_drafted, int most_depth) const {
  TreeShape cut;
  for (int node = 1; node < size() && cut.size() <= most_drafted && depth(node) <= most_depth; ++node) {
    cut.Add(parent(node));
  }
  return cut;
}

void TreeShape::Add(int parent) {
  parents_.push_back(parent);
  depths_.push_back(depths_[parent] + 1);
  num_children_.push_back(0);
  ++num_children_[parent];
}

}  // namespace forerun
