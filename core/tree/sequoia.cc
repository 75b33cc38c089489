#include "core/tree/sequoia.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "core/base/check.h"

namespace forerun {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

}  // namespace

SequoiaTable::SequoiaTable(std::span<const double> acceptance, int max_nodes, int max_levels)
    : acceptance_(acceptance.begin(), acceptance.end()),
      max_nodes_(max_nodes),
      max_levels_(max_levels),
      max_ranks_(static_cast<int>(acceptance.size())) {
  FORERUN_CHECK(!acceptance.empty() && max_nodes >= 1 && max_levels >= 1);
  const std::size_t states = static_cast<std::size_t>(max_levels) * max_nodes;
  any_.assign(states, {kNone, 0});
  exact_.assign(states * (max_ranks_ + 1), {kNone, 0});
  for (int levels = 1; levels <= max_levels; ++levels) {
    for (int nodes = 1; nodes <= max_nodes; ++nodes) {
      Best& any = any_[Index(nodes, levels)];
      if (nodes == 1) WithRanks(1, levels, 0) = any = {1, 0};
      if (levels == 1) continue;
      for (int ranks = 1; ranks <= std::min(max_ranks_, nodes - 1); ++ranks) {
        const Best best = WithRanks(nodes, levels, ranks) = BestSplit(nodes, levels, ranks);
        if (best.value > any.value) any = {best.value, ranks};
      }
    }
  }
}

// The last child's subtree gets what the tree with one child less leaves.
SequoiaTable::Best SequoiaTable::BestSplit(int nodes, int levels, int ranks) {
  Best best{kNone, 0};
  for (int rest = ranks; rest < nodes; ++rest) {
    const double value = WithRanks(rest, levels, ranks - 1).value +
                         acceptance_[ranks - 1] * At(nodes - rest, levels - 1).value;
    if (value > best.value) best = {value, rest};
  }
  return best;
}

int SequoiaTable::BestSize(int most, int levels) const {
  int best = 1;
  for (int nodes = 2; nodes <= std::min(most, max_nodes_); ++nodes) {
    if (value(nodes, levels) > value(best, levels)) best = nodes;
  }
  return best;
}

// Of the root's subtrees, by rank.
std::vector<int> SequoiaTable::ChildSizes(int nodes, int levels) const {
  std::vector<int> sizes(At(nodes, levels).choice);
  for (int ranks = static_cast<int>(sizes.size()); ranks > 0; --ranks) {
    const int rest = exact_[Index(nodes, levels) * (max_ranks_ + 1) + ranks].choice;
    sizes[ranks - 1] = nodes - rest;
    nodes = rest;
  }
  return sizes;
}

TreeShape SequoiaTable::Shape(int nodes, int levels) const {
  FORERUN_CHECK(value(nodes, levels) > kNone);
  struct Subtree {
    int nodes, levels;
  };
  std::vector<int> children;  // in order of levels
  std::deque<Subtree> waiting = {{nodes, levels}};
  while (!waiting.empty()) {
    const Subtree subtree = waiting.front();
    waiting.pop_front();
    const std::vector<int> sizes = ChildSizes(subtree.nodes, subtree.levels);
    children.push_back(static_cast<int>(sizes.size()));
    for (const int size : sizes) waiting.push_back({size, subtree.levels - 1});
  }
  return TreeShape::FromChildCounts(children);
}

TreeChoice ChooseTree(const SequoiaTable& table, std::span<const int> nodes, const RoundCost& seconds) {
  TreeChoice choice;
  const double plain = seconds(1, 1);
  for (const int count : nodes) {
    FORERUN_CHECK(count >= 1 && count <= table.max_nodes());
    for (int levels = 2; levels <= table.max_levels(); ++levels) {
      const double speedup = plain * table.value(count, levels) / seconds(count, levels);
      if (speedup > choice.speedup) choice = {count, levels, speedup};
    }
  }
  return choice;
}

}  // namespace forerun
