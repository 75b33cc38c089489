// Parts of the context, parts of a group's heads, and three passes instead of one: no way to cut the work
// changes a bit, and none writes past its workspace.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/support/attention_world.h"
#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

struct Case {
  AttentionShape shape;
  int prefix = 0;
  int rows = 1;
  bool tree = false;
};

// Every group, head size, type and number of rows comes up, at contexts around block and chunk borders and
// anywhere between; the reference is slow, so large models get few rows and short contexts.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  std::mt19937 random(17);
  const int borders[] = {0,   1,   15,  16,  17,  31,  33,  63,  64,  65,
                         127, 255, 256, 257, 300, 505, 511, 512, 513, 650};
  int index = 0;
  for (const int group : {1, 3, 4, 6, 7}) {
    for (const int head_size : {64, 80, 128, 256}) {
      for (const KvDtype dtype : {KvDtype::kF16, KvDtype::kF32}) {
        Case c;
        c.shape = {dtype, 1 + index % 2, group, head_size, 0, 2.0f + index % 3 * 5};
        c.prefix =
            index % 2 == 0 ? borders[index / 2 % std::size(borders)] : static_cast<int>(random() % 700);
        c.rows = 1 + index * 5 % kAttentionTileRows;
        c.tree = index % 3 != 0;
        if (index % 4 == 1)
          c.shape.window = index % 8 == 1 ? 1 + static_cast<int>(random() % (c.prefix + 4)) : 512;
        const int work = c.shape.heads() * head_size;
        c.rows = std::min(c.rows, std::max(1, 3000000 / (work * (c.prefix + 20))));
        if (!c.tree) c.prefix = std::max(1, c.prefix);
        cases.push_back(c);
        ++index;
      }
    }
  }
  return cases;
}

std::string Describe(const Case& c, int parts, int head_parts, bool unfused) {
  return "prefix " + std::to_string(c.prefix) + ", rows " + std::to_string(c.rows) +
         (c.tree ? " (tree)" : "") + ", group " + std::to_string(c.shape.group) + ", head size " +
         std::to_string(c.shape.head_size) + ", window " + std::to_string(c.shape.window) + ", parts " +
         std::to_string(parts) + ", head parts " + std::to_string(head_parts) + (unfused ? ", unfused" : "");
}

// The rows of a case: a tree, or rows that each see one more token, as in prefill.
class Rows {
 public:
  Rows(AttentionWorld& world, const Case& c) {
    std::mt19937 random(c.prefix);
    if (c.tree) {
      trees_.emplace_back(world, random, c.prefix, c.rows);
      return;
    }
    const int tokens = c.prefix + c.rows - 1;
    blocks_ = world.MakeBlocks(tokens);
    for (int p = 0; p < tokens; ++p) world.Put(AttentionWorld::Slot(blocks_, p), p);
    for (int row = 0; row < c.rows; ++row) world.AddRow(row, blocks_, c.prefix + row, {});
  }

 private:
  std::deque<AttentionTree> trees_;
  std::vector<std::byte*> blocks_;
};

class AttentionSplitTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(AttentionSplitTest);

TEST_P(AttentionSplitTest, NoWayToCutTheWorkChangesABit) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const AttentionKernels kernels(GetParam());
  int ways = 0;
  for (const Case& c : Cases()) {
    AttentionWorld world(c.shape, 1);
    const Rows rows(world, c);
    const std::vector<float> y = world.Run(AttentionReference, kAttentionTileRows);
    for (int parts = 1; parts <= (GetParam() == Isa::kReference ? 3 : 7); ++parts, ++ways) {
      const int head_parts = 1 + ways % c.shape.group, tile_rows = ways % 5 == 4 ? 3 : kAttentionTileRows;
      for (const bool unfused : {false, true}) {
        ASSERT_TRUE(SameBits(y, world.RunInParts(kernels, tile_rows, parts, head_parts, unfused)))
            << Describe(c, parts, head_parts, unfused);
      }
    }
  }
}

// Negative control: a part that is not merged must show.
TEST_P(AttentionSplitTest, AMissingPartShows) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const AttentionKernels kernels(GetParam());
  const Case c{{}, 600, 2, false};
  AttentionWorld world(c.shape, 1);
  const Rows rows(world, c);
  AttentionKernels without = kernels;
  without.attention = [](const AttentionArgs& args, WorkRange units, Lane& lane) {
    if (units.begin % args.split.parts != 1) kAttention.reference(args, units, lane);
  };
  const std::vector<float> y = world.RunInParts(kernels, 16, 1, 1, false);
  EXPECT_TRUE(SameBits(y, world.RunInParts(kernels, 16, 3, 1, false)));
  EXPECT_FALSE(SameBits(y, world.RunInParts(without, 16, 3, 1, false)));
}

AttentionSplit Choose(int tokens, int window, int rows, int kv_heads, int threads) {
  AttentionShape shape;
  shape.kv_heads = kv_heads;
  shape.group = 4;
  shape.window = window;
  AttentionWorld world(shape, 1);
  const std::vector<std::byte*> blocks = world.MakeBlocks(tokens);
  for (int row = 0; row < rows; ++row) world.AddRow(row, blocks, tokens, {});
  std::vector<float> y;
  const std::vector<AttentionTile> tiles = world.Tiles(kAttentionTileRows);
  return ChooseAttentionSplit(world.Args(tiles, y), static_cast<int64_t>(tiles.size()), threads);
}

TEST(AttentionSplitChoiceTest, GivesEveryThreadWorkAndNoPartNothing) {
  EXPECT_EQ(1, Choose(2048, 0, 1, 2, 1).parts);    // one thread
  EXPECT_EQ(1, Choose(2048, 0, 512, 2, 2).parts);  // prefill: many tiles
  EXPECT_EQ(1, Choose(600, 0, 1, 2, 2).parts);     // even as it is, and short
  EXPECT_EQ(1, Choose(256, 0, 1, 1, 2).parts);     // one chunk, but several heads
  EXPECT_EQ(2, Choose(256, 0, 1, 1, 2).head_parts);
  EXPECT_GE(Choose(2048, 0, 8, 1, 2).parts, 4);     // one KV head, two threads
  EXPECT_GE(Choose(16384, 0, 1, 2, 16).parts, 16);  // many threads
  for (const int tokens : {1, 256, 257, 700, 2048}) {
    for (const int window : {0, 512}) {
      for (const int threads : {1, 2, 5, 64}) {
        const AttentionSplit split = Choose(tokens, window, 3, 1, threads);
        const int first = window > 0 && tokens > window ? (tokens - window) / kAttentionChunk : 0;
        EXPECT_EQ((tokens + kAttentionChunk - 1) / kAttentionChunk - first, split.chunks);
        EXPECT_EQ(3, split.tile_rows);
        EXPECT_GE(split.parts, 1);
        EXPECT_LE(split.parts, split.chunks);
        EXPECT_GE(split.head_parts, 1);
        EXPECT_LE(split.head_parts, 4);
      }
    }
  }
}

}  // namespace
}  // namespace forerun
