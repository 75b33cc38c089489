#include "core/tree/tree_shape.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using testing::HasSubstr;
using Paths = std::vector<std::vector<int>>;

std::vector<int> Parents(const TreeShape& shape) {
  std::vector<int> parents;
  for (int node = 0; node < shape.size(); ++node) parents.push_back(shape.parent(node));
  return parents;
}

TEST(TreeShape, WidthsCountChildrenByLevel) {
  const auto shape = TreeShape::FromWidths(std::vector<int>{2, 3, 1}, 64);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(Parents(*shape), (std::vector<int>{-1, 0, 0, 1, 1, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(shape->max_depth(), 3);
  EXPECT_EQ(shape->depth(8), 2);
  EXPECT_EQ(shape->num_children(2), 3);
  EXPECT_EQ(shape->num_children(14), 0);
}

TEST(TreeShape, WidthsAreLimitedBeforeTheyAreBuilt) {
  EXPECT_TRUE(TreeShape::FromWidths(std::vector<int>{2, 3}, 8).ok());
  for (const std::vector<int>& widths :
       {std::vector<int>{2, 3, 1}, {9}, {0}, {2, -1}, {1 << 20, 1 << 20, 1 << 20}}) {
    const auto shape = TreeShape::FromWidths(widths, 8);
    ASSERT_FALSE(shape.ok());
    EXPECT_THAT(std::string(shape.status().message()), HasSubstr("at most 8 nodes"));
  }
}

TEST(TreeShape, RankPathsComeInAnyOrder) {
  const auto shape = TreeShape::FromRankPaths({{0, 1}, {0}, {1, 0}, {2}, {0, 0}, {1}, {0, 1, 0}});
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(Parents(*shape), (std::vector<int>{-1, 0, 0, 0, 1, 1, 2, 5}));
  EXPECT_EQ(*shape, *TreeShape::FromRankPaths({{0}, {1}, {2}, {0, 0}, {0, 1}, {1, 0}, {0, 1, 0}}));
  EXPECT_EQ(*shape, TreeShape::FromChildCounts(std::vector<int>{3, 2, 1, 0, 0, 1, 0, 0}));
}

TEST(TreeShape, RefusesPathsThatAreNoTree) {
  const struct {
    Paths paths;
    const char* message;
  } cases[] = {
      {{{0}, {0}}, "each node once"},
      {{{}}, "each node once"},
      {{{0}, {1, 0}}, "the parent"},
      {{{1}}, "without a gap, found [1]"},
      {{{0}, {0, 0}, {0, 2}}, "without a gap"},
      {{{-1}}, "without a gap"},
  };
  for (const auto& [paths, message] : cases) {
    const auto shape = TreeShape::FromRankPaths(paths);
    ASSERT_FALSE(shape.ok()) << message;
    EXPECT_THAT(std::string(shape.status().message()), HasSubstr(message));
  }
}

TEST(TreeShape, CutKeepsTheFirstLevels) {
  const TreeShape shape = *TreeShape::FromWidths(std::vector<int>{2, 2}, 64);
  EXPECT_EQ(Parents(shape.Cut(3, 9)), (std::vector<int>{-1, 0, 0, 1}));
  EXPECT_EQ(Parents(shape.Cut(9, 1)), (std::vector<int>{-1, 0, 0}));
  EXPECT_EQ(Parents(shape.Cut(0, 9)), (std::vector<int>{-1}));
  EXPECT_EQ(shape.Cut(3, 9).num_children(2), 0);
  EXPECT_EQ(shape.Cut(6, 2), shape);
}

}  // namespace
}  // namespace forerun
