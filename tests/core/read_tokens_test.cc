#include "core/model/read_tokens.h"

#include <memory>
#include <span>
#include <vector>

#include "core/model/table_model.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

class ReadTokensTest : public testing::Test {
 protected:
  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 1 << 16, .slab_bytes = 1 << 16});
  TableModel model_{*pool_, ContextTable::Random(5, 3, 71, true)};
  BlockTable table_{*pool_, model_.kv_layout_id()};
};

TEST_F(ReadTokensTest, ReadsOnFromWhatTheTableHolds) {
  const std::vector<TokenId> text = {1, 4, 0, 2, 3, 3, 1};
  for (const std::size_t first : {0, 1, 4}) {
    const std::span<const TokenId> part = std::span(text).subspan(first, first == 0 ? 1 : 3);
    const auto result = ReadTokens(model_, table_, part, {.wanted = WantedOutput::kFull});
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->rows.size(), part.size());
    for (std::size_t i = 0; i < part.size(); ++i)
      EXPECT_EQ(result->rows[i].logits, model_.Logits(std::span(text).first(first + i + 1)));
    EXPECT_EQ(table_.committed(), static_cast<int>(first + part.size()));
  }
}

TEST_F(ReadTokensTest, RowsWantNothingUnlessAsked) {
  const auto result = ReadTokens(model_, table_, std::vector<TokenId>{1, 2});
  ASSERT_TRUE(result.ok()) << result.status();
  for (const RowOutput& row : result->rows) EXPECT_TRUE(row.logits.empty() && row.top.empty());
  EXPECT_EQ(table_.committed(), 2);
}

TEST_F(ReadTokensTest, KeepsWhatWasCommittedWhereThePoolIsFull) {
  ASSERT_TRUE(ReadTokens(model_, table_, std::vector<TokenId>{1, 2}).ok());
  const std::vector<TokenId> endless(1 << 20, 3);
  const auto result = ReadTokens(model_, table_, endless);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted) << result.status();
  EXPECT_EQ(table_.committed(), 2);
}

}  // namespace
}  // namespace forerun
