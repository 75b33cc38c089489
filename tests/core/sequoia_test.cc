// The optimiser against brute force over all ordered trees, and against worked-out values.
#include "core/tree/sequoia.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"

namespace forerun {
namespace {

const std::vector<double> kAcceptance = {0.6, 0.2, 0.1};

// Sum over nodes of the product of acceptances on the path: the expected tokens of a round.
double ValueOf(const TreeShape& shape, std::span<const double> acceptance) {
  std::vector<double> reach(shape.size(), 1);
  std::vector<int> seen(shape.size(), 0);
  double sum = 1;
  for (int node = 1; node < shape.size(); ++node) {
    const int rank = seen[shape.parent(node)]++;
    if (rank >= static_cast<int>(acceptance.size())) return -1;
    reach[node] = reach[shape.parent(node)] * acceptance[rank];
    sum += reach[node];
  }
  return sum;
}

// Every ordered tree with `nodes` nodes, as child counts in order of levels.
void AllTrees(int nodes, std::vector<int>& counts, int open, std::vector<TreeShape>& trees) {
  const int placed = static_cast<int>(counts.size()) + open;
  if (open == 0) {
    if (placed == nodes) trees.push_back(TreeShape::FromChildCounts(counts));
    return;
  }
  for (int children = 0; placed + children <= nodes; ++children) {
    counts.push_back(children);
    AllTrees(nodes, counts, open - 1 + children, trees);
    counts.pop_back();
  }
}

std::vector<TreeShape> AllTrees(int nodes) {
  std::vector<TreeShape> trees;
  std::vector<int> counts;
  AllTrees(nodes, counts, 1, trees);
  return trees;
}

TEST(Sequoia, WorkedOutValuesWithoutADepthCap) {
  const double expected[] = {1, 1.6, 1.96, 2.176, 2.376, 2.5056, 2.6256, 2.7456};
  const SequoiaTable table(kAcceptance, 8, 8);
  for (int nodes = 1; nodes <= 8; ++nodes) EXPECT_NEAR(table.value(nodes, 8), expected[nodes - 1], 1e-12);
}

TEST(Sequoia, IsTheBestOfAllOrderedTrees) {
  EXPECT_EQ(AllTrees(8).size(), 429u);  // the Catalan number: no tree is missing
  std::mt19937 random(3);
  std::vector<std::vector<double>> vectors = {
      kAcceptance, {0.3}, {0.1, 0.5, 0.0, 0.2}, {0.25, 0.25, 0.25, 0.25}};
  for (int i = 0; i < 4; ++i) {
    vectors.push_back({});
    for (int rank = 0; rank < 4; ++rank) vectors.back().push_back(random() % 1000 / 4000.0);
  }
  for (const std::vector<double>& acceptance : vectors) {
    const SequoiaTable table(acceptance, 8, 8);
    for (int nodes = 1; nodes <= 8; ++nodes) {
      const std::vector<TreeShape> trees = AllTrees(nodes);
      for (int levels = 1; levels <= 8; ++levels) {
        double best = -1;
        for (const TreeShape& tree : trees) {
          if (tree.max_depth() < levels) best = std::max(best, ValueOf(tree, acceptance));
        }
        if (best < 0) {
          EXPECT_TRUE(std::isinf(table.value(nodes, levels))) << nodes << " nodes, " << levels << " levels";
          continue;
        }
        EXPECT_NEAR(table.value(nodes, levels), best, 1e-12);
        const TreeShape shape = table.Shape(nodes, levels);
        EXPECT_EQ(shape.size(), nodes);
        EXPECT_LT(shape.max_depth(), levels);
        EXPECT_NEAR(ValueOf(shape, acceptance), best, 1e-12);
      }
    }
  }
}

TEST(Sequoia, OneRankMakesAChain) {
  const SequoiaTable table(std::vector<double>{0.7}, 6, 6);
  EXPECT_EQ(table.Shape(6, 6), *TreeShape::FromWidths(std::vector<int>{1, 1, 1, 1, 1}, 5));
  EXPECT_TRUE(std::isinf(table.value(6, 5)));
}

TEST(ChooseTree, WorkedOutChoice) {
  const auto seconds = [](int nodes, int levels) {
    return nodes == 1 ? 10 : 0.3 * levels + (nodes <= 4 ? 10 : 12);
  };
  const TreeChoice choice =
      ChooseTree(SequoiaTable(kAcceptance, 8, 8), std::vector<int>{1, 2, 4, 8}, seconds);
  EXPECT_EQ(choice.nodes, 8);
  EXPECT_EQ(choice.levels, 4);
  EXPECT_NEAR(choice.speedup, 2.0576, 5e-5);
}

TEST(ChooseTree, SaysNotToSpeculateWhereNothingPays) {
  const auto seconds = [](int nodes, int levels) { return 1.0 * nodes + 0.2 * (levels - 1); };
  const TreeChoice choice = ChooseTree(SequoiaTable(kAcceptance, 8, 8), std::vector<int>{2, 4, 8}, seconds);
  EXPECT_EQ(choice.nodes, 1);
  EXPECT_EQ(choice.speedup, 1);
}

}  // namespace
}  // namespace forerun
