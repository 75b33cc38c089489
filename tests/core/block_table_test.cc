#include "core/kv/block_table.h"

#include <utility>

#include "gtest/gtest.h"
#include "tests/support/kv_tokens.h"

namespace forerun {
namespace {

// Two layers of different shape, 128 + 384 bytes a block: two blocks a slab.
KvLayout SmallLayout() {
  return KvLayout({{.kv_heads = 1, .head_size = 2}, {.kv_heads = 2, .head_size = 3}}, KvDtype::kF16);
}

class BlockTableTest : public testing::Test {
 protected:
  explicit BlockTableTest(int blocks = 16)
      : pool_(*KvPool::Create({.budget_bytes = std::size_t(blocks) * 512, .slab_bytes = 1024})),
        layout_id_(*pool_->RegisterLayout(SmallLayout())),
        codec_(SmallLayout()) {}

  // Reserves and writes tokens first, first + 1, ...
  void Fill(BlockTable& table, int rows, uint32_t first) {
    ASSERT_TRUE(table.Reserve(rows).ok());
    for (int row = 0; row < rows; ++row) codec_.Write(table.Slot(table.committed() + row), first + row);
  }
  void Append(BlockTable& table, int rows, uint32_t first) {
    Fill(table, rows, first);
    table.CommitAll();
  }
  void ExpectHolds(const BlockTable& table, std::vector<uint32_t> tokens) {
    ASSERT_EQ(table.committed(), static_cast<int>(tokens.size()));
    for (int at = 0; at < table.committed(); ++at) {
      EXPECT_TRUE(codec_.Holds(table.Slot(at), tokens[at])) << "position " << at;
    }
  }
  int64_t blocks_in_use() const { return pool_->usage().blocks_in_use; }

  std::unique_ptr<KvPool> pool_;
  int layout_id_;
  KvTokenCodec codec_;
};

std::vector<uint32_t> Range(uint32_t first, int count) {
  std::vector<uint32_t> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(first + i);
  return tokens;
}

TEST_F(BlockTableTest, APositionLivesInItsBlock) {
  BlockTable table(*pool_, layout_id_);
  EXPECT_EQ(table.allocated(), 0);
  ASSERT_TRUE(table.Reserve(33).ok());
  EXPECT_EQ(table.reserved(), 33);
  EXPECT_EQ(table.allocated(), 48);
  ASSERT_EQ(table.block_data().size(), 3u);
  for (int position = 0; position < 33; ++position) {
    EXPECT_EQ(table.Slot(position).block, table.block_data()[position / 16]);
    EXPECT_EQ(table.Slot(position).offset, position % 16);
  }
}

TEST_F(BlockTableTest, RollbackFreesWhatWasReserved) {
  BlockTable table(*pool_, layout_id_);
  Append(table, 10, 100);
  Fill(table, 40, 500);
  EXPECT_EQ(blocks_in_use(), 4);
  table.Rollback();
  EXPECT_EQ(table.reserved(), 0);
  EXPECT_EQ(blocks_in_use(), 1);
  ExpectHolds(table, Range(100, 10));
}

TEST_F(BlockTableTest, CommitMovesTheKeptRowsTogether) {
  BlockTable table(*pool_, layout_id_);
  Append(table, 13, 100);
  Fill(table, 30, 500);
  table.Commit(std::vector<int>{0, 2, 3, 4, 9, 29});
  std::vector<uint32_t> expected = Range(100, 13);
  for (const uint32_t row : {0, 2, 3, 4, 9, 29}) expected.push_back(500 + row);
  ExpectHolds(table, expected);
  EXPECT_EQ(blocks_in_use(), 2);
  EXPECT_EQ(table.reserved(), 0);
}

TEST_F(BlockTableTest, CommitFirstMovesNothing) {
  BlockTable table(*pool_, layout_id_);
  Append(table, 5, 100);
  Fill(table, 8, 500);
  const KvSlot third = table.Slot(7);
  table.CommitFirst(3);
  EXPECT_EQ(table.Slot(7).block, third.block);
  std::vector<uint32_t> expected = Range(100, 5);
  for (const uint32_t token : Range(500, 3)) expected.push_back(token);
  ExpectHolds(table, expected);
  EXPECT_TRUE(codec_.Holds({third.block, 8}, 503));  // what lay behind the committed rows stays where it was
}

TEST_F(BlockTableTest, ReserveReplacesAnEarlierReservation) {
  BlockTable table(*pool_, layout_id_);
  Append(table, 4, 100);
  Fill(table, 60, 500);
  EXPECT_EQ(blocks_in_use(), 4);
  Fill(table, 2, 700);
  EXPECT_EQ(table.reserved(), 2);
  EXPECT_EQ(blocks_in_use(), 1);
  table.CommitAll();
  std::vector<uint32_t> expected = Range(100, 4);
  for (const uint32_t token : {700, 701}) expected.push_back(token);
  ExpectHolds(table, expected);
}

TEST_F(BlockTableTest, AReservationThatGrowsKeepsWhatWasWritten) {
  BlockTable table(*pool_, layout_id_);
  Append(table, 5, 100);
  const BlockTable fork = table.Fork();  // the first block is shared when it grows
  Fill(table, 9, 500);
  ASSERT_TRUE(table.Reserve(30).ok());
  for (int row = 9; row < 30; ++row) codec_.Write(table.Slot(5 + row), 500 + row);
  table.Commit(std::vector<int>{1, 8, 9, 29});
  std::vector<uint32_t> expected = Range(100, 5);
  for (const uint32_t token : {501, 508, 509, 529}) expected.push_back(token);
  ExpectHolds(table, expected);
  ExpectHolds(fork, Range(100, 5));
}

TEST_F(BlockTableTest, TruncateFreesWholeBlocks) {
  BlockTable table(*pool_, layout_id_);
  Append(table, 50, 100);
  table.TruncateTo(33);
  EXPECT_EQ(blocks_in_use(), 3);
  table.TruncateTo(32);
  EXPECT_EQ(blocks_in_use(), 2);
  ExpectHolds(table, Range(100, 32));
  table.TruncateTo(0);
  EXPECT_EQ(blocks_in_use(), 0);
}

TEST_F(BlockTableTest, TruncateDropsReservedRows) {
  BlockTable table(*pool_, layout_id_);
  Append(table, 20, 100);
  Fill(table, 30, 500);
  table.TruncateTo(20);
  EXPECT_EQ(table.reserved(), 0);
  EXPECT_EQ(blocks_in_use(), 2);
}

TEST_F(BlockTableTest, ForkSharesAndCopiesOnlyThePartBlockOnWrite) {
  BlockTable parent(*pool_, layout_id_);
  Append(parent, 40, 100);
  Fill(parent, 30, 500);
  BlockTable child = parent.Fork();
  EXPECT_EQ(child.reserved(), 0);
  EXPECT_EQ(child.allocated(), 48);
  EXPECT_EQ(blocks_in_use(), 5);
  parent.Rollback();
  EXPECT_EQ(blocks_in_use(), 3);

  Append(child, 3, 700);
  EXPECT_EQ(blocks_in_use(), 4);
  EXPECT_EQ(child.block_data()[0], parent.block_data()[0]);
  EXPECT_EQ(child.block_data()[1], parent.block_data()[1]);
  EXPECT_NE(child.block_data()[2], parent.block_data()[2]);
  Append(parent, 2, 900);  // alone again: no copy
  EXPECT_EQ(blocks_in_use(), 4);

  std::vector<uint32_t> expected = Range(100, 40);
  for (const uint32_t token : {700, 701, 702}) expected.push_back(token);
  ExpectHolds(child, expected);
  expected.resize(40);
  for (const uint32_t token : {900, 901}) expected.push_back(token);
  ExpectHolds(parent, expected);
}

TEST_F(BlockTableTest, AForkAtABlockBoundaryCopiesNothing) {
  BlockTable parent(*pool_, layout_id_);
  Append(parent, 32, 100);
  BlockTable child = parent.Fork();
  Append(child, 1, 700);
  EXPECT_EQ(blocks_in_use(), 3);
  EXPECT_EQ(child.block_data()[1], parent.block_data()[1]);
}

TEST_F(BlockTableTest, AForkTakenDuringAReservationIsNotDisturbedByItsCommit) {
  BlockTable parent(*pool_, layout_id_);
  Append(parent, 5, 100);
  Fill(parent, 9, 500);
  BlockTable child = parent.Fork();
  Fill(child, 4, 700);
  parent.Commit(std::vector<int>{1, 8});
  child.CommitAll();
  std::vector<uint32_t> expected = Range(100, 5);
  for (const uint32_t token : {501, 508}) expected.push_back(token);
  ExpectHolds(parent, expected);
  expected.resize(5);
  for (const uint32_t token : Range(700, 4)) expected.push_back(token);
  ExpectHolds(child, expected);
}

TEST_F(BlockTableTest, MovedFromTablesAreEmptyAndUsable) {
  BlockTable first(*pool_, layout_id_);
  Append(first, 20, 100);
  BlockTable second = std::move(first);
  EXPECT_EQ(first.committed(), 0);  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_EQ(first.allocated(), 0);
  EXPECT_TRUE(first.block_data().empty());
  ExpectHolds(second, Range(100, 20));
  Append(first, 3, 700);
  second = std::move(first);
  ExpectHolds(second, Range(700, 3));
  EXPECT_EQ(blocks_in_use(), 1);
  BlockTable& same = second;
  second = std::move(same);
  ExpectHolds(second, Range(700, 3));
}

TEST_F(BlockTableTest, DestructionReturnsEveryBlock) {
  {
    BlockTable table(*pool_, layout_id_);
    Append(table, 20, 100);
    BlockTable fork = table.Fork();
    Fill(fork, 50, 500);
  }
  EXPECT_EQ(blocks_in_use(), 0);
  EXPECT_EQ(pool_->usage().slab_bytes_in_use, 0u);
}

TEST_F(BlockTableTest, DeathOnRowsOutOfOrderOrRange) {
  BlockTable table(*pool_, layout_id_);
  Fill(table, 4, 500);
  EXPECT_DEATH(table.Commit(std::vector<int>{2, 1}), "check failed");
  EXPECT_DEATH(table.Commit(std::vector<int>{1, 1}), "check failed");
  EXPECT_DEATH(table.Commit(std::vector<int>{4}), "check failed");
  EXPECT_DEATH(table.CommitFirst(5), "check failed");
  EXPECT_DEATH(table.TruncateTo(1), "check failed");
  EXPECT_DEATH(table.Slot(4), "check failed");
}

class FullPoolTest : public BlockTableTest {
 protected:
  FullPoolTest() : BlockTableTest(4) {}

  // A refused reservation changes nothing: not the lengths, not the blocks, not what is written.
  void ExpectRefused(BlockTable& table, int rows) {
    const int committed = table.committed(), reserved = table.reserved();
    const std::vector<const std::byte*> blocks(table.block_data().begin(), table.block_data().end());
    const int64_t in_use = blocks_in_use();
    EXPECT_EQ(table.Reserve(rows).code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(table.committed(), committed);
    EXPECT_EQ(table.reserved(), reserved);
    EXPECT_EQ(blocks, std::vector<const std::byte*>(table.block_data().begin(), table.block_data().end()));
    EXPECT_EQ(blocks_in_use(), in_use);
  }
};

TEST_F(FullPoolTest, ARefusedReservationChangesNothing) {
  BlockTable table(*pool_, layout_id_);
  Append(table, 20, 100);
  Fill(table, 10, 500);
  ExpectRefused(table, 45);  // two of the three blocks would fit
  table.CommitAll();
  std::vector<uint32_t> expected = Range(100, 20);
  for (const uint32_t token : Range(500, 10)) expected.push_back(token);
  ExpectHolds(table, expected);
  EXPECT_TRUE(table.Reserve(34).ok());
}

TEST_F(FullPoolTest, ACopyThatDoesNotFitIsRefused) {
  BlockTable table(*pool_, layout_id_);
  Append(table, 60, 100);
  BlockTable fork = table.Fork();
  ExpectRefused(fork, 1);
  ExpectHolds(table, Range(100, 60));
  ExpectHolds(fork, Range(100, 60));
}

}  // namespace
}  // namespace forerun
