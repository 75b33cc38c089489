// The k best words of a row, whole head or part of it, against a sort of all its logits.
#include "core/model/top_tokens.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/random.h"
#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

std::vector<ScoredToken> Sorted(std::span<const float> logits, int k) {
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) { return logits[a] > logits[b]; });
  std::vector<ScoredToken> best;
  for (const TokenId id : ids) {
    if (static_cast<int>(best.size()) < k && logits[id] > kNothing) best.push_back({id, logits[id]});
  }
  return best;
}

TEST(BestTokens, AreTheFirstOfAStableSort) {
  const RandomStream random({.seed = 4});
  uint64_t drawn = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<float> logits(1 + random.Bits(drawn++) % 40);
    for (float& logit : logits) {  // few values: many ties
      const int value = static_cast<int>(random.Bits(drawn++) % 6);
      logit = value == 0 ? kNothing : static_cast<float>(value);
    }
    for (const int k : {1, 2, 8, 50}) EXPECT_EQ(BestTokens(logits, k), Sorted(logits, k));
  }
}

TEST(BestTokens, NotANumberNeverEnters) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> logits = {nan, 1, nan, 2};
  EXPECT_EQ(BestTokens(logits, 3), (std::vector<ScoredToken>{{3, 2.0f}, {1, 1.0f}}));
}

std::vector<RowOutput> Outputs(Model& model, KvPool& pool, const ForwardRow& wanted,
                               const Shortlist* shortlist) {
  BlockTable table(pool, model.kv_layout_id());
  ForwardBatch batch;
  batch.shortlist = shortlist;
  for (const TokenId token : {5, 9, 20, 31, 7}) {
    batch.rows.push_back(wanted);
    batch.rows.back().token = token;
  }
  batch.segments.push_back({&table, 0, static_cast<int32_t>(batch.rows.size()), true});
  EXPECT_TRUE(table.Reserve(static_cast<int>(batch.rows.size())).ok());
  return std::move(model.Forward(batch)->rows);
}

void ExpectTopOfFull(Model& model, KvPool& pool, const Shortlist* shortlist) {
  const auto full = Outputs(model, pool, {.wanted = WantedOutput::kFull}, shortlist);
  const auto best = Outputs(model, pool, {.wanted = WantedOutput::kBestLogProb}, shortlist);
  for (const int k : {1, 8, 40}) {
    const auto top = Outputs(model, pool, {.wanted = WantedOutput::kTopK, .top_k = k}, shortlist);
    const auto scored = Outputs(model, pool, {.wanted = WantedOutput::kTopKLogProb, .top_k = k}, shortlist);
    ASSERT_EQ(top.size(), full.size());
    for (std::size_t row = 0; row < top.size(); ++row) {
      EXPECT_EQ(top[row].top, Sorted(full[row].logits, k)) << "k " << k << ", row " << row;
      EXPECT_EQ(top[row].argmax, top[row].top[0].token);
      EXPECT_EQ(top[row].best_logit, top[row].top[0].logit);
      EXPECT_EQ(scored[row].top, top[row].top);
      EXPECT_EQ(scored[row].argmax, top[row].argmax);
      EXPECT_EQ(scored[row].log_prob, best[row].log_prob);
    }
  }
}

TEST(TopKOutput, IsThatOfTheFullLogits) {
  TestModel test(TinyTargetPath(), {}, 2);
  std::vector<TokenId> ids;
  for (TokenId id = 2; id < test.model().vocab_size(); id += 3) ids.push_back(id);
  ExpectTopOfFull(test.model(), *test.pool, nullptr);
  ExpectTopOfFull(test.model(), *test.pool, test.model().MakeShortlist(ids).get());
}

TEST(TopKOutput, OfATableModel) {
  const auto pool = *KvPool::Create({.budget_bytes = 1 << 20, .slab_bytes = 1 << 16});
  TableModel model(*pool, ContextTable::Random(32, 1, 3, /*zeros=*/true));
  ExpectTopOfFull(model, *pool, nullptr);
}

}  // namespace
}  // namespace forerun
