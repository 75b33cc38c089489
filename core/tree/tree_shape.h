// The form of a tree before anyone knows its tokens: how many children each node has. A drafter fills it with
// its best tokens, or with draws.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace forerun {

// Nodes in order of levels, node 0 the root; siblings are neighbours, in the order of their ranks.
class TreeShape {
 public:
  TreeShape() = default;  // the root alone

  // Every node of level i (the root's is 0) has widths[i] >= 1 children. InvalidArgument beyond `most_nodes`.
  static absl::StatusOr<TreeShape> FromWidths(std::span<const int> widths, int most_nodes);
  // One path of ranks a node, as Medusa writes its trees: {{0}, {1}, {0, 0}} is a root with two children, the
  // first of which has one. In any order; InvalidArgument where a path occurs twice, or lacks its parent or
  // the sibling of the rank before.
  static absl::StatusOr<TreeShape> FromRankPaths(std::vector<std::vector<int>> paths);
  // children[i]: how many node i has, nodes in order of levels. Sums to the nodes below the root.
  static TreeShape FromChildCounts(std::span<const int> children);

  int size() const { return static_cast<int>(parents_.size()); }
  int parent(int node) const { return parents_[node]; }  // -1 for the root
  int depth(int node) const { return depths_[node]; }
  int num_children(int node) const { return num_children_[node]; }
  int max_depth() const { return depths_.back(); }
  // The first `most_drafted` nodes below the root that are no deeper than `most_depth`.
  TreeShape Cut(int most_drafted, int most_depth) const;

  friend bool operator==(const TreeShape&, const TreeShape&) = default;

 private:
  void Add(int parent);

  std::vector<int> parents_ = {-1};
  std::vector<int> depths_ = {0};
  std::vector<int> num_children_ = {0};
};

}  // namespace forerun
