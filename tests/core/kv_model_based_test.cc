// Long random runs against a plain model (tests/support/kv_world.h), and proof that the comparison sees
// faults. sees faults.
#include "gtest/gtest.h"
#include "tests/support/kv_world.h"

namespace forerun {
namespace {

class KvModelBasedTest : public testing::TestWithParam<int> {};

TEST_P(KvModelBasedTest, EveryTokenReadsBackAndNothingLeaks) {
  constexpr int kOperations = 30000;
  KvWorld world(GetParam(), KvWorld::Fault::kNone);
  EXPECT_EQ(world.Run(kOperations), std::nullopt);
  // The run met what it is meant to meet.
  EXPECT_GT(world.refused(), kOperations / 100);
  EXPECT_GT(world.moved(), kOperations / 10);
  EXPECT_GT(world.copied(), kOperations / 200);
  EXPECT_GT(world.worst_fragmentation(), 0.5);
  RecordProperty("refused", world.refused());
  RecordProperty("copied", world.copied());
}
INSTANTIATE_TEST_SUITE_P(Seeds, KvModelBasedTest, testing::Range(1, 6));

// Negative controls: the check sees what it is there to see.
TEST(KvModelBasedControlTest, SeesRowsMovedInTheWrongOrder) {
  const auto mistake = KvWorld(1, KvWorld::Fault::kDescendingCommit).Run(2000);
  ASSERT_NE(mistake, std::nullopt);
  EXPECT_NE(mistake->find("lost its token"), std::string::npos) << *mistake;
}

TEST(KvModelBasedControlTest, SeesAWriteToASharedBlock) {
  const auto mistake = KvWorld(1, KvWorld::Fault::kNoCopyOnWrite).Run(2000);
  ASSERT_NE(mistake, std::nullopt);
  EXPECT_NE(mistake->find("lost its token"), std::string::npos) << *mistake;
}

TEST(KvModelBasedControlTest, SeesBlocksThatNobodyReleased) {
  const auto mistake = KvWorld(1, KvWorld::Fault::kForgottenRelease).Run(2000);
  ASSERT_NE(mistake, std::nullopt);
  EXPECT_NE(mistake->find("the pool counts"), std::string::npos) << *mistake;
}

}  // namespace
}  // namespace forerun
