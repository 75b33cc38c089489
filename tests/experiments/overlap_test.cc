// Against sums over the tables themselves.
#include "experiments/texts/overlap.h"

#include <algorithm>
#include <cmath>

#include "core/model/table_model.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

TextOverlap ByHand(const ContextTable& p, const ContextTable& q, const std::vector<TokenId>& prompt,
                   const std::vector<TokenId>& output) {
  TextOverlap sums;
  std::vector<TokenId> context = prompt;
  for (const TokenId token : output) {
    const std::span<const double> p_row = p.Row(context), q_row = q.Row(context);
    for (std::size_t i = 0; i < p_row.size(); ++i) {
      sums.overlap += std::min(p_row[i], q_row[i]);
      if (p_row[i] > 0) sums.entropy -= p_row[i] * std::log(p_row[i]);
    }
    sums.agreement += std::max_element(p_row.begin(), p_row.end()) - p_row.begin() ==
                      std::max_element(q_row.begin(), q_row.end()) - q_row.begin();
    ++sums.tokens;
    context.push_back(token);
  }
  return sums;
}

TEST(OverlapOfModels, IsTheSumOverTheTables) {
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  const ContextTable p = ContextTable::Random(8, 2, 1, /*zeros=*/true), q = ContextTable::Random(8, 1, 2);
  TableModel target(*pool, p), draft(*pool, q);
  for (const int prompt_length : {1, 2, 33, 70}) {
    for (const int length : {1, 2, 31, 100}) {
      std::vector<TokenId> prompt, output;
      for (int i = 0; i < prompt_length; ++i) prompt.push_back((i * 5 + 1) % 8);
      for (int i = 0; i < length; ++i) output.push_back((i * 3 + i / 7) % 8);
      const TextOverlap expected = ByHand(p, q, prompt, output);
      const auto found = MeasureOverlap(target, draft, *pool, prompt, output);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_NEAR(found->overlap, expected.overlap, 1e-5 * length);
      EXPECT_NEAR(found->entropy, expected.entropy, 1e-5 * length);
      EXPECT_EQ(found->agreement, expected.agreement);
      EXPECT_EQ(found->tokens, expected.tokens);
    }
  }
  EXPECT_EQ(pool->usage().blocks_in_use, 0);
}

TEST(OverlapOfModels, OfAModelWithItselfIsOne) {
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  TableModel target(*pool, ContextTable::Random(8, 2, 1)), draft(*pool, ContextTable::Random(8, 2, 1));
  const std::vector<TokenId> prompt = {1, 2, 3}, output = {4, 5, 6, 7, 0, 1};
  const auto found = MeasureOverlap(target, draft, *pool, prompt, output);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->overlap, 6, 1e-9);
  EXPECT_EQ(found->agreement, 6);
}

TEST(OverlapOfModels, AContextTooShortIsSaid) {
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  TableModel target(*pool, ContextTable::Random(8, 2, 1)), draft(*pool, ContextTable::Random(8, 1, 1), 4);
  const std::vector<TokenId> prompt = {1, 2, 3}, output = {4, 5, 6};
  EXPECT_EQ(MeasureOverlap(target, draft, *pool, prompt, output).status().message(),
            "the draft model's context: expected at least 5 tokens, found 4");
}

}  // namespace
}  // namespace forerun
