// The promise of attention.h: a row's bits depend on its own context alone. A tree's nodes are compared with
// the same paths laid out as plain chains, every variant with the reference, and the reference with doubles.
#include "kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <vector>

#include "tests/support/attention_world.h"
#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

// Each node of `tree` after the same prefix, in blocks that hold nothing else.
void AddChains(AttentionWorld& world, const AttentionTree& tree, int prefix,
               std::deque<std::vector<std::byte*>>& blocks) {
  for (const std::vector<uint32_t>& path : tree.paths) {
    const int end = prefix + static_cast<int>(path.size());
    blocks.push_back(world.MakeBlocks(end));
    for (int p = 0; p < end; ++p) {
      world.Put(AttentionWorld::Slot(blocks.back(), p), p < prefix ? p : path[p - prefix]);
    }
    world.AddRow(path.back(), blocks.back(), end, {});
  }
}

struct Case {
  AttentionShape shape;
  int prefix;
  int nodes;
};

std::vector<Case> TreeCases() {
  std::vector<Case> cases;
  std::mt19937 random(11);
  const int groups[] = {1, 2, 3, 4, 6, 7}, head_sizes[] = {64, 80, 96, 128, 256};
  const int prefixes[] = {0, 1, 15, 16, 17, 100, 240, 250, 255, 256, 257, 300, 511, 600};
  int index = 0;
  for (const int prefix : prefixes) {
    for (const KvDtype dtype : {KvDtype::kF16, KvDtype::kF32}) {
      AttentionShape shape;
      shape.dtype = dtype;
      shape.group = groups[index % 6];
      shape.head_size = prefix > 300 ? 64 : head_sizes[index % 5];
      shape.kv_heads = 1 + index % 2;
      shape.window = index % 4 == 3 ? 1 + static_cast<int>(random() % (prefix + 4)) : 0;
      shape.spread = index % 3 == 0 ? 12 : 2;
      const int nodes = prefix > 300 ? 5 : 1 + static_cast<int>(random() % 16);
      cases.push_back({shape, prefix, nodes});
      ++index;
    }
  }
  return cases;
}

std::string Describe(const Case& c) {
  return "prefix " + std::to_string(c.prefix) + ", nodes " + std::to_string(c.nodes) + ", group " +
         std::to_string(c.shape.group) + ", head size " + std::to_string(c.shape.head_size) + ", window " +
         std::to_string(c.shape.window);
}

class AttentionTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(AttentionTest);

TEST_P(AttentionTest, TreeEqualsChainsAndReference) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const KernelFn<AttentionArgs> fn = kAttention.For(GetParam());
  std::mt19937 random(5);
  for (const Case& c : TreeCases()) {
    AttentionWorld world(c.shape, 1), chains(c.shape, 1);
    const AttentionTree tree(world, random, c.prefix, c.nodes);
    std::deque<std::vector<std::byte*>> chain_blocks;
    AddChains(chains, tree, c.prefix, chain_blocks);
    const std::vector<float> y = world.Run(fn, kAttentionTileRows);
    ASSERT_TRUE(std::none_of(y.begin(), y.end(), [](float v) { return std::isnan(v); })) << Describe(c);
    ASSERT_TRUE(SameBits(chains.Run(fn, 1), y)) << Describe(c);
    ASSERT_TRUE(SameBits(world.Run(fn, 1 + static_cast<int>(random() % 5), true), y)) << Describe(c);
    if (fn != AttentionReference) {
      ASSERT_TRUE(SameBits(world.Run(AttentionReference, 3), y)) << Describe(c);
    }
  }
}

// Prefill: every position is a row, and sees the blocks up to itself.
TEST_P(AttentionTest, CausalRowsEqualRowsAlone) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const KernelFn<AttentionArgs> fn = kAttention.For(GetParam());
  for (const int window : {0, 1, 20, 260}) {
    AttentionShape shape;
    shape.group = 3;
    shape.window = window;
    AttentionWorld world(shape, 2);
    constexpr int kTokens = 290, kFirst = 230;
    const std::vector<std::byte*> blocks = world.MakeBlocks(kTokens);
    for (int p = 0; p < kTokens; ++p) world.Put(AttentionWorld::Slot(blocks, p), p);
    for (int p = kFirst; p < kTokens; ++p) world.AddRow(p, blocks, p + 1, {});
    const std::vector<float> y = world.Run(fn, kAttentionTileRows);
    ASSERT_TRUE(SameBits(world.Run(fn, 1), y)) << "window " << window;
    ASSERT_TRUE(SameBits(world.Run(fn, 7, true), y)) << "window " << window;
    ASSERT_TRUE(SameBits(world.Run(AttentionReference, 1), y)) << "window " << window;
  }
}

// One decode row over a long context; rows of one tile may also have nothing in common but their blocks.
TEST_P(AttentionTest, LongAndUnevenPrefixes) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const KernelFn<AttentionArgs> fn = kAttention.For(GetParam());
  AttentionShape shape;
  shape.kv_heads = 1;
  AttentionWorld world(shape, 3);
  const std::vector<std::byte*> blocks = world.MakeBlocks(1200);
  for (int p = 0; p < 1200; ++p) world.Put(AttentionWorld::Slot(blocks, p), p);
  for (const int prefix : {1200, 3, 700, 256, 701, 1}) world.AddRow(prefix, blocks, prefix, {});
  EXPECT_TRUE(SameBits(world.Run(AttentionReference, 1), world.Run(fn, kAttentionTileRows)));
}

TEST_P(AttentionTest, WindowStartsAreAsThoughNothingLayBefore) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const KernelFn<AttentionArgs> fn = kAttention.For(GetParam());
  AttentionShape shape;
  const auto last = [&](int window, int shift, int tokens) {
    shape.window = window;
    AttentionWorld world(shape, 4);
    const std::vector<std::byte*> blocks = world.MakeBlocks(shift + tokens);
    for (int p = 0; p < tokens; ++p) world.Put(AttentionWorld::Slot(blocks, shift + p), p);
    world.AddRow(tokens - 1, blocks, shift + tokens, {});
    return world.Run(fn, 1);
  };
  // What lies outside the window is NaN, and within one chunk a shift by whole blocks changes no bit.
  EXPECT_TRUE(SameBits(last(0, 0, 200), last(200, 16, 200)));
  // Negative control: chunks cut by distance from the first visible position would not see this shift either.
  // They are cut at absolute positions, and the bits tell.
  EXPECT_FALSE(SameBits(last(0, 0, 400), last(400, 16, 400)));
}

// Negative control: one ancestor read from another node's slot must show.
TEST_P(AttentionTest, AStaleSlotShows) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  const KernelFn<AttentionArgs> fn = kAttention.For(GetParam());
  AttentionWorld world({}, 5);
  const std::vector<std::byte*> blocks = world.MakeBlocks(64);
  for (int p = 0; p < 64; ++p) world.Put(AttentionWorld::Slot(blocks, p), p);
  const auto slot = [&](int p) { return AttentionWorld::Slot(blocks, p); };
  std::vector<KvSlot> right = {slot(50), slot(33), slot(60)}, stale = {slot(50), slot(34), slot(60)};
  world.AddRow(60, blocks, 20, right);
  const std::vector<float> y = world.Run(fn, 16);
  world.row(0).tail = stale.data();
  EXPECT_FALSE(SameBits(y, world.Run(fn, 16)));
  std::swap(right[0], right[1]);  // the order of ancestors is theirs by position
  world.row(0).tail = right.data();
  EXPECT_FALSE(SameBits(y, world.Run(fn, 16)));
}

TEST(AttentionReferenceTest, AgreesWithDoubles) {
  for (const Case& c : TreeCases()) {
    std::mt19937 random(c.prefix);
    AttentionWorld world(c.shape, 6);
    const AttentionTree tree(world, random, c.prefix, c.nodes);
    const std::vector<float> y = world.Run(AttentionReference, 1);
    const int size = c.shape.head_size;
    const std::vector<uint32_t>& path = tree.paths.back();
    const int end = c.prefix + static_cast<int>(path.size());
    const int begin = c.shape.window > 0 ? std::max(0, end - c.shape.window) : 0;
    const std::vector<float> query = world.Query(path.back());
    for (int head = 0; head < c.shape.heads(); ++head) {
      double sum = 0;
      std::vector<double> expected(size, 0.0);
      for (int p = begin; p < end; ++p) {
        const uint32_t token = p < c.prefix ? p : path[p - c.prefix];
        const std::vector<float> key = world.Key(token), value = world.Value(token);
        const int kv = head / c.shape.group * size;
        double score = 0;
        for (int d = 0; d < size; ++d) score += static_cast<double>(query[head * size + d]) * key[kv + d];
        const double weight = std::exp(score * world.scale());
        sum += weight;
        for (int d = 0; d < size; ++d) expected[d] += weight * value[kv + d];
      }
      const std::size_t row = y.size() - c.shape.heads() * size;
      for (int d = 0; d < size; ++d)
        ASSERT_NEAR(y[row + head * size + d], expected[d] / sum, 2e-5) << Describe(c);
    }
  }
}

}  // namespace
}  // namespace forerun
