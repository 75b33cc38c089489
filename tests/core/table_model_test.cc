// The toy that other tests trust: it must answer by its context, and notice a wrong KV.
#include "core/model/table_model.h"

#include <cmath>
#include <limits>

#include "experiments/lossless/law.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

class TableModelTest : public testing::Test {
 protected:
  static ForwardRow Full(TokenId token, int parent = -1) {
    return {.token = token, .parent = parent, .wanted = WantedOutput::kFull};
  }

  // Forwards the rows after the committed context, without committing them.
  absl::StatusOr<ForwardResult> Forward(BlockTable& table, std::vector<ForwardRow> rows, bool causal = true) {
    const int count = static_cast<int>(rows.size());
    EXPECT_TRUE(table.Reserve(count).ok());
    return model_.Forward({std::move(rows), {{&table, 0, count, causal}}});
  }

  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 1 << 20, .slab_bytes = 1 << 16});
  TableModel model_{*pool_, ContextTable::Random(5, 3, 71, true)};
  BlockTable table_{*pool_, model_.kv_layout_id()};
};

TEST_F(TableModelTest, RowsOfTheTableSumToExactlyOne) {
  ContextTable table = ContextTable::Random(7, 2, 3, true);
  for (int row = 0; row < table.num_rows(); ++row) {
    double sum = 0;
    for (const double p : table.RowAt(row)) sum += p;
    EXPECT_EQ(sum, 1);
  }
}

TEST_F(TableModelTest, AChainAnswersByItsContext) {
  std::vector<TokenId> text;
  for (int i = 0; i < 40; ++i) text.push_back(i * i % 5);
  std::vector<ForwardRow> rows;
  for (const TokenId token : text) rows.push_back(Full(token));
  const auto result = Forward(table_, rows);
  ASSERT_TRUE(result.ok()) << result.status();
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(result->rows[i].logits, model_.Logits(std::span(text).first(i + 1)));
  }
}

TEST_F(TableModelTest, ATreeAnswersByItsPathsAndCommitsOne) {
  ASSERT_TRUE(Forward(table_, {Full(1), Full(2)}).ok());
  table_.CommitAll();
  const auto result = Forward(table_, {Full(3), Full(4), Full(0, 0), Full(2, 1)}, false);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->rows[1].logits, model_.Logits(std::vector<TokenId>{1, 2, 4}));
  EXPECT_EQ(result->rows[2].logits, model_.Logits(std::vector<TokenId>{2, 3, 0}));
  EXPECT_EQ(result->rows[3].logits, model_.Logits(std::vector<TokenId>{2, 4, 2}));
  table_.Commit(std::vector<int>{1, 3});
  const auto next = Forward(table_, {Full(3)});
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->rows[0].logits, model_.Logits(std::vector<TokenId>{4, 2, 3}));
}

TEST_F(TableModelTest, ATreeInPartsAnswersByItsPaths) {
  ASSERT_TRUE(Forward(table_, {Full(1), Full(2)}).ok());
  table_.CommitAll();
  ASSERT_TRUE(Forward(table_, {Full(3), Full(4)}, false).ok());
  const int32_t written[] = {-1, -1};
  ASSERT_TRUE(table_.Reserve(5).ok());
  const auto result =
      model_.Forward({{Full(0, 1), Full(2, 2), Full(1, 0)}, {{&table_, 0, 3, false, written}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->rows[0].logits, model_.Logits(std::vector<TokenId>{2, 4, 0}));
  EXPECT_EQ(result->rows[1].logits, model_.Logits(std::vector<TokenId>{4, 0, 2}));
  EXPECT_EQ(result->rows[2].logits, model_.Logits(std::vector<TokenId>{2, 3, 1}));
  // Not causal, and no more rows than slots.
  EXPECT_EQ(model_.Forward({{Full(0)}, {{&table_, 0, 1, true, written}}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(table_.Reserve(2).ok());
  EXPECT_EQ(model_.Forward({{Full(0, 1)}, {{&table_, 0, 1, false, written}}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TableModelTest, NoticesSlotsThatWereNotMoved) {
  ASSERT_TRUE(Forward(table_, {Full(1), Full(2)}).ok());
  table_.CommitAll();
  ASSERT_TRUE(Forward(table_, {Full(3), Full(4), Full(2, 1)}, false).ok());
  table_.CommitFirst(2);  // the path was rows 1 and 2: two siblings are no path
  const auto next = Forward(table_, {Full(3)});
  EXPECT_EQ(next.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(next.status().message()),
              testing::HasSubstr("position 3 holds token 4 of position 2"));
}

TEST_F(TableModelTest, ARejectedTokenThatStaysChangesTheAnswer) {
  ASSERT_TRUE(Forward(table_, {Full(1), Full(2), Full(4)}).ok());
  table_.CommitAll();  // 4 should have been rolled back
  const auto next = Forward(table_, {Full(3)});
  ASSERT_TRUE(next.ok());
  EXPECT_NE(next->rows[0].logits, model_.Logits(std::vector<TokenId>{1, 2, 3}));
}

TEST_F(TableModelTest, GivesTheWantedOutputs) {
  const std::vector<TokenId> context = {2};
  const std::vector<float> logits = model_.Logits(context);
  const auto result = Forward(table_,
                              {{.token = 2, .wanted = WantedOutput::kArgmax},
                               {.token = 2, .wanted = WantedOutput::kLogProbOf, .target = 1},
                               {.token = 2, .wanted = WantedOutput::kNone}},
                              false);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->rows[0].argmax, DistributionAt(model_.table(), context).Argmax());
  EXPECT_DOUBLE_EQ(result->rows[1].log_prob, std::log(model_.table().Row(context)[1]));
  EXPECT_TRUE(result->rows[2].logits.empty());
  EXPECT_EQ(model_.counters().forwards, 1);
  EXPECT_EQ(model_.counters().rows, 3);
}

TEST_F(TableModelTest, SequencesOfABatchDoNotMix) {
  BlockTable other(*pool_, model_.kv_layout_id());
  ASSERT_TRUE(table_.Reserve(2).ok());
  ASSERT_TRUE(other.Reserve(1).ok());
  const auto result =
      model_.Forward({{Full(1), Full(2), Full(3)}, {{&table_, 0, 2, true}, {&other, 2, 1, true}}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->rows[1].logits, model_.Logits(std::vector<TokenId>{1, 2}));
  EXPECT_EQ(result->rows[2].logits, model_.Logits(std::vector<TokenId>{3}));
}

TEST_F(TableModelTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(Forward(table_, {Full(5)}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Forward(table_, {Full(1, 0)}, false).status().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(table_.Reserve(1).ok());
  EXPECT_EQ(model_.Forward({{Full(1), Full(1)}, {{&table_, 0, 2, true}}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace forerun
