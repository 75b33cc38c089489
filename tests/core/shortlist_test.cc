// A head cut to some words gives each of them the very logit that the whole head does.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/random_model.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

// Outputs of a row for each of some tokens, all from one forward.
std::vector<RowOutput> Outputs(Model& model, KvPool& pool, const std::vector<TokenId>& tokens,
                               WantedOutput wanted, const Shortlist* shortlist) {
  BlockTable table(pool, model.kv_layout_id());
  EXPECT_TRUE(table.Reserve(static_cast<int>(tokens.size())).ok());
  ForwardBatch batch;
  batch.shortlist = shortlist;
  for (const TokenId token : tokens) batch.rows.push_back({.token = token, .wanted = wanted});
  batch.segments.push_back({&table, 0, static_cast<int32_t>(tokens.size()), true});
  absl::StatusOr<ForwardResult> result = model.Forward(batch);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? std::move(result->rows) : std::vector<RowOutput>{};
}

// Every third word, a run, and the last one: whole groups of 16, parts of them and the padded end.
std::vector<TokenId> SomeIds(int vocab_size) {
  std::vector<TokenId> ids;
  for (TokenId id = 1; id < vocab_size; ++id) {
    if (id % 3 == 0 || (id >= 40 && id < 75) || id == vocab_size - 1) ids.push_back(id);
  }
  return ids;
}

void ExpectThePartOfTheWhole(Model& model, KvPool& pool, const std::vector<TokenId>& ids) {
  const std::vector<TokenId> tokens = {5, 9, 20, 31, 7};
  const auto shortlist = model.MakeShortlist(ids);
  const auto whole = Outputs(model, pool, tokens, WantedOutput::kFull, nullptr);
  const auto full = Outputs(model, pool, tokens, WantedOutput::kFull, shortlist.get());
  const auto argmax = Outputs(model, pool, tokens, WantedOutput::kArgmax, shortlist.get());
  const auto best = Outputs(model, pool, tokens, WantedOutput::kBestLogProb, shortlist.get());
  ASSERT_EQ(full.size(), tokens.size());
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    ASSERT_EQ(full[row].logits.size(), whole[row].logits.size());
    double sum = 0;
    TokenId expected = ids[0];
    for (TokenId id = 0; id < model.vocab_size(); ++id) {
      const bool in = std::binary_search(ids.begin(), ids.end(), id);
      const float logit = in ? whole[row].logits[id] : kNothing;
      ASSERT_EQ(std::bit_cast<uint32_t>(full[row].logits[id]), std::bit_cast<uint32_t>(logit))
          << "row " << row << ", token " << id;
      sum += std::exp(static_cast<double>(logit));
      if (logit > whole[row].logits[expected]) expected = id;
    }
    EXPECT_EQ(argmax[row].argmax, expected);
    EXPECT_EQ(best[row].argmax, expected);
    EXPECT_EQ(best[row].best_logit, whole[row].logits[expected]);
    EXPECT_NEAR(best[row].log_prob, whole[row].logits[expected] - std::log(sum), 1e-6);
  }
}

class ShortlistOfType : public testing::TestWithParam<TensorType> {};

TEST_P(ShortlistOfType, LogitsAreThoseOfTheWholeHead) {
  const ModelFile file({.type = GetParam(), .vocab = 331, .tied = false});
  for (const int threads : {1, 2}) {
    TestModel test(file.path(), {}, threads);
    ExpectThePartOfTheWhole(test.model(), *test.pool, SomeIds(331));
    ExpectThePartOfTheWhole(test.model(), *test.pool, {330});
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ShortlistOfType,
                         testing::Values(TensorType::kF32, TensorType::kF16, TensorType::kQ4_1,
                                         TensorType::kQ8_0, TensorType::kQ4_K, TensorType::kQ6_K),
                         [](const auto& info) { return std::string(Info(info.param).name); });

TEST(Shortlist, OfATiedHeadOfThousandsOfWords) {
  TestModel test(TinyTargetPath(), {}, 2);
  ExpectThePartOfTheWhole(test.model(), *test.pool, SomeIds(test.model().vocab_size()));
}

TEST(Shortlist, EveryWordIsNoRestriction) {
  TestModel test(TinyDraftPath(), {}, 2);
  std::vector<TokenId> all(test.model().vocab_size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<TokenId>(i);
  ExpectThePartOfTheWhole(test.model(), *test.pool, all);
}

TEST(Shortlist, OfATableModel) {
  const auto pool = *KvPool::Create({.budget_bytes = 1 << 20, .slab_bytes = 1 << 16});
  TableModel model(*pool, ContextTable::Random(32, 1, 3));
  ExpectThePartOfTheWhole(model, *pool, SomeIds(32));
}

TEST(ShortlistDeathTest, HasNoProbabilityOfAGivenWord) {
  TestModel test(TinyDraftPath(), {}, 1);
  const auto shortlist = test.model().MakeShortlist({3, 4});
  EXPECT_DEATH(Outputs(test.model(), *test.pool, {5}, WantedOutput::kLogProbOf, shortlist.get()),
               "check failed");
}

}  // namespace
}  // namespace forerun
