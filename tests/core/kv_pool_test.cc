#include "core/kv/kv_pool.h"

#include <unistd.h>

#include <cstring>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using ::testing::HasSubstr;

// A block of head size h in f16: 2 * h * 16 * 2 = 64 h bytes.
KvLayout LayoutOf(int head_size) {
  return KvLayout({{.kv_heads = 1, .head_size = head_size}}, KvDtype::kF16);
}

std::unique_ptr<KvPool> MakePool(std::size_t budget_bytes, std::size_t slab_bytes) {
  auto pool = KvPool::Create({.budget_bytes = budget_bytes, .slab_bytes = slab_bytes});
  EXPECT_TRUE(pool.ok()) << pool.status();
  return *std::move(pool);
}

TEST(KvLayoutTest, LayersFollowEachOtherOnCacheLines) {
  // 2 * 3 * 16 * 2 = 192 bytes; 2 * 2 * 5 * 16 * 2 = 640 bytes.
  const KvLayout layout({{.kv_heads = 1, .head_size = 3}, {.kv_heads = 2, .head_size = 5, .window = 7}},
                        KvDtype::kF16);
  EXPECT_EQ(layout.num_layers(), 2);
  EXPECT_EQ(layout.layer(0).offset, 0u);
  EXPECT_EQ(layout.layer(1).offset, 192u);
  EXPECT_EQ(layout.block_bytes(), 192u + 640u);
  EXPECT_EQ(layout.layer(1).kv_heads, 2);
  EXPECT_EQ(layout.layer(1).head_size, 5);
  const KvLayout wide({{.kv_heads = 1, .head_size = 3}, {.kv_heads = 2, .head_size = 5, .window = 7}},
                      KvDtype::kF32);
  EXPECT_EQ(wide.block_bytes(), 2 * layout.block_bytes());
  EXPECT_FALSE(wide == layout);
}

TEST(KvLayoutTest, RoundsABlockUpToWholeCacheLines) {
  EXPECT_EQ(KvLayout({{.kv_heads = 1, .head_size = 1}}, KvDtype::kF16).block_bytes(), 64u);
  EXPECT_EQ(KvLayout({{.kv_heads = 1, .head_size = 1}, {.kv_heads = 1, .head_size = 1}}, KvDtype::kF16)
                .block_bytes(),
            128u);
}

TEST(KvPoolTest, RejectsImpossibleSizes) {
  EXPECT_EQ(KvPool::Create({.budget_bytes = 1023, .slab_bytes = 1024}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(KvPool::Create({.budget_bytes = 1024, .slab_bytes = 0}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(KvPool::Create({.budget_bytes = 1024, .slab_bytes = 100}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(KvPoolTest, TheSameLayoutGetsTheSameId) {
  const auto pool = MakePool(4096, 1024);
  const int first = *pool->RegisterLayout(LayoutOf(2));
  const int second = *pool->RegisterLayout(LayoutOf(4));
  EXPECT_NE(first, second);
  EXPECT_EQ(*pool->RegisterLayout(LayoutOf(2)), first);
  EXPECT_EQ(pool->layout(second), LayoutOf(4));
}

TEST(KvPoolTest, RejectsALayoutThatNoSlabHolds) {
  const auto pool = MakePool(4096, 1024);
  EXPECT_TRUE(pool->RegisterLayout(LayoutOf(16)).ok());
  const absl::Status status = pool->RegisterLayout(LayoutOf(17)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("1088"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("1024"));
  EXPECT_EQ(pool->RegisterLayout(KvLayout()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(KvPoolTest, LiveBlocksAreAlignedAndDisjoint) {
  const auto pool = MakePool(8 * 1024, 1024);
  const int layouts[] = {*pool->RegisterLayout(LayoutOf(2)), *pool->RegisterLayout(LayoutOf(5))};
  std::vector<std::pair<BlockId, int>> held;
  for (int i = 0; pool->usage().slab_bytes_in_use < 8 * 1024; ++i) {
    const int layout_id = layouts[i % 2];
    held.push_back({*pool->Allocate(layout_id), layout_id});
    std::memset(pool->data(held.back().first), i, pool->layout(layout_id).block_bytes());
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::byte* const data = pool->data(held[i].first);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    for (std::size_t at = 0; at < pool->layout(held[i].second).block_bytes(); ++at) {
      ASSERT_EQ(data[at], static_cast<std::byte>(i)) << "block " << i << " byte " << at;
    }
  }
  for (const auto& [block, layout_id] : held) pool->Release(block);
  EXPECT_EQ(pool->usage().slab_bytes_in_use, 0u);
}

TEST(KvPoolTest, ExhaustionNamesNeedAndBudgetAndPasses) {
  const auto pool = MakePool(2048, 1024);
  const int layout_id = *pool->RegisterLayout(LayoutOf(16));
  const BlockId first = *pool->Allocate(layout_id);
  const BlockId second = *pool->Allocate(layout_id);
  const absl::Status status = pool->Allocate(layout_id).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("1024"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("budget 2048"));
  EXPECT_EQ(pool->usage().blocks_in_use, 2);
  pool->Release(first);
  const absl::StatusOr<BlockId> again = pool->Allocate(layout_id);
  ASSERT_TRUE(again.ok());
  pool->Release(*again);
  pool->Release(second);
}

TEST(KvPoolTest, ASlabServesOneLayoutUntilItsLastBlockIsFreed) {
  const auto pool = MakePool(1024, 1024);
  const int small = *pool->RegisterLayout(LayoutOf(2));
  const int large = *pool->RegisterLayout(LayoutOf(8));
  const BlockId first = *pool->Allocate(small);
  const BlockId second = *pool->Allocate(small);
  EXPECT_FALSE(pool->Allocate(large).ok());
  pool->Release(first);
  EXPECT_FALSE(pool->Allocate(large).ok());
  pool->Release(second);
  EXPECT_EQ(pool->usage().slab_bytes_in_use, 0u);
  const absl::StatusOr<BlockId> block = pool->Allocate(large);
  ASSERT_TRUE(block.ok());
  EXPECT_FALSE(pool->Allocate(small).ok());
  pool->Release(*block);
}

TEST(KvPoolTest, ABlockLivesUntilItsLastReference) {
  const auto pool = MakePool(1024, 1024);
  const int layout_id = *pool->RegisterLayout(LayoutOf(2));
  const BlockId block = *pool->Allocate(layout_id);
  EXPECT_EQ(pool->references(block), 1);
  pool->AddReference(block);
  EXPECT_EQ(pool->references(block), 2);
  pool->Release(block);
  EXPECT_EQ(pool->usage().blocks_in_use, 1);
  pool->Release(block);
  EXPECT_EQ(pool->usage().blocks_in_use, 0);
}

TEST(KvPoolDeathTest, UsingAFreedBlockAborts) {
  const auto pool = MakePool(1024, 1024);
  const int layout_id = *pool->RegisterLayout(LayoutOf(2));
  const BlockId block = *pool->Allocate(layout_id);
  pool->Release(block);
  EXPECT_DEATH(pool->Release(block), "check failed");
  EXPECT_DEATH(pool->data(block), "check failed");
}

TEST(KvPoolTest, FragmentationCountsSlabTailsAndHoles) {
  const auto pool = MakePool(4096, 1024);
  const int layout_id = *pool->RegisterLayout(LayoutOf(6));  // 384 bytes: two a slab, 256 bytes of tail
  EXPECT_EQ(pool->usage().fragmentation, 0.0);
  const BlockId first = *pool->Allocate(layout_id);
  EXPECT_DOUBLE_EQ(pool->usage().fragmentation, 1.0 - 384.0 / 1024);
  const BlockId second = *pool->Allocate(layout_id);
  EXPECT_DOUBLE_EQ(pool->usage().fragmentation, 0.25);
  const BlockId third = *pool->Allocate(layout_id);
  EXPECT_DOUBLE_EQ(pool->usage().fragmentation, 1.0 - 3 * 384.0 / 2048);
  pool->Release(second);
  EXPECT_DOUBLE_EQ(pool->usage().fragmentation, 1.0 - 2 * 384.0 / 2048);
  pool->Release(third);
  pool->Release(first);
  EXPECT_EQ(pool->usage().fragmentation, 0.0);
  EXPECT_EQ(pool->usage().peak_block_bytes, 3u * 384);
  EXPECT_EQ(pool->usage().block_bytes_in_use, 0u);
  EXPECT_EQ(pool->usage().budget_bytes, 4096u);
}

TEST(KvPoolTest, FillsTheLowestSlabFirstSoThatOthersDrain) {
  const auto pool = MakePool(4096, 1024);
  const int layout_id = *pool->RegisterLayout(LayoutOf(8));  // two a slab
  std::vector<BlockId> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(*pool->Allocate(layout_id));
  pool->Release(blocks[0]);  // a hole in the first slab
  pool->Release(blocks[4]);  // and a fresher one in the third
  const BlockId refill = *pool->Allocate(layout_id);
  pool->Release(blocks[5]);
  EXPECT_EQ(pool->usage().slab_bytes_in_use, 2048u);
  for (const BlockId block : {refill, blocks[1], blocks[2], blocks[3]}) pool->Release(block);
}

TEST(KvPoolTest, CopyBlockCopiesEveryByte) {
  const auto pool = MakePool(1024, 1024);
  const int layout_id = *pool->RegisterLayout(LayoutOf(2));
  const BlockId from = *pool->Allocate(layout_id);
  const BlockId to = *pool->Allocate(layout_id);
  const BlockId beyond = *pool->Allocate(layout_id);
  for (int i = 0; i < 128; ++i) pool->data(from)[i] = static_cast<std::byte>(i);
  std::memset(pool->data(beyond), 255, 128);
  pool->CopyBlock(layout_id, from, to);
  for (int i = 0; i < 128; ++i) {
    ASSERT_EQ(pool->data(to)[i], static_cast<std::byte>(i));
    ASSERT_EQ(pool->data(beyond)[i], static_cast<std::byte>(255));
  }
  for (const BlockId block : {from, to, beyond}) pool->Release(block);
}

std::size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total_pages = 0, resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

TEST(KvPoolTest, AHugeBudgetCostsNothingUntilTouched) {
  const std::size_t before = ResidentBytes();
  const auto pool = MakePool(std::size_t{16} << 30, std::size_t{4} << 20);
  const int layout_id = *pool->RegisterLayout(LayoutOf(1 << 15));  // 2 MiB a block
  const BlockId block = *pool->Allocate(layout_id);
  std::memset(pool->data(block), 1, pool->layout(layout_id).block_bytes());
  EXPECT_LT(ResidentBytes(), before + (std::size_t{32} << 20));
  pool->Release(block);
}

}  // namespace
}  // namespace forerun
