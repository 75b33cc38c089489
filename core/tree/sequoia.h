// Sequoia (Chen et al. 2024, arXiv:2402.12374): the tree that is worth most for its size, where the b-th
// child of any node is the accepted one with a probability that depends on b alone. And the size that pays
// most on a machine.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/tree/tree_shape.h"

namespace forerun {

class SequoiaTable {
 public:
  // acceptance[b]: probability that the child of rank b is the accepted one (not: given that those before it
  // were not); >= 0, sum <= 1, at least one. Tables for up to `max_nodes` nodes and `max_levels` levels, the
  // root and its level included. O(nodes^2 levels ranks).
  SequoiaTable(std::span<const double> acceptance, int max_nodes, int max_levels);

  int max_nodes() const { return max_nodes_; }
  int max_levels() const { return max_levels_; }
  // Expected tokens a round (the target's own included) of the best tree with exactly so many nodes and at
  // most so many levels; minus infinity where there is none.
  double value(int nodes, int levels) const { return At(nodes, levels).value; }
  // The number of nodes, `most` or fewer, with the greatest value; the least of several.
  int BestSize(int most, int levels) const;
  // The best tree with exactly so many nodes.
  TreeShape Shape(int nodes, int levels) const;

 private:
  // The best tree whose root has exactly `ranks` children, or any number.
  struct Best {
    double value;
    int choice;  // nodes of the tree without its root's last child; or the number of children
  };
  std::size_t Index(int nodes, int levels) const {
    return static_cast<std::size_t>(levels - 1) * max_nodes_ + nodes - 1;
  }
  const Best& At(int nodes, int levels) const { return any_[Index(nodes, levels)]; }
  Best& WithRanks(int nodes, int levels, int ranks) {
    return exact_[Index(nodes, levels) * (max_ranks_ + 1) + ranks];
  }
  Best BestSplit(int nodes, int levels, int ranks);
  std::vector<int> ChildSizes(int nodes, int levels) const;

  std::vector<double> acceptance_;
  int max_nodes_, max_levels_, max_ranks_;
  std::vector<Best> any_;    // [levels, nodes]
  std::vector<Best> exact_;  // [levels, nodes, ranks + 1]
};

struct TreeChoice {
  int nodes = 1;   // with the root; 1: do not speculate
  int levels = 1;  // with the root's
  double speedup = 1;
};

// Seconds of a round with a tree of so many nodes and levels; seconds(1, 1): a round without speculation.
using RoundCost = std::function<double(int nodes, int levels)>;

// The tree with the least seconds a token, among those with a number of nodes that is listed. Ties: the first
// listed, the fewest levels.
TreeChoice ChooseTree(const SequoiaTable& table, std::span<const int> nodes, const RoundCost& seconds);

}  // namespace forerun
