// A forward with some layers left out is that of a smaller model, and keeps the promises of the whole.
#include <cmath>

#include "core/model/partial_model.h"
#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/forward_bits.h"
#include "tests/support/plain_transformer.h"
#include "tests/support/random_model.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

const ModelOptions kExact{Numerics::kF32, KvDtype::kF32};

std::vector<TokenId> SomeTokens(int count, int vocab) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((i * i * 37 + 11 * i + 5) % vocab);
  return tokens;
}

LayerSubset Without(int layers, std::initializer_list<int> attention,
                    std::initializer_list<int> feed_forward) {
  LayerSubset subset = LayerSubset::All(layers);
  for (const int layer : attention) subset.attention[layer] = false;
  for (const int layer : feed_forward) subset.feed_forward[layer] = false;
  return subset;
}

TEST(LayerSubset, AllLayersAreTheModelItself) {
  TestModel test(TinyTargetPath(), {}, 2);
  const std::vector<TokenId> tokens = SomeTokens(40, 4096);
  PartialModel whole(test.model(), LayerSubset::All(test.model().num_layers()));
  EXPECT_EQ(CompareChunks(whole, *test.pool, tokens, LogitsOneByOne(test.model(), *test.pool, tokens), 40),
            "");
}

TEST(LayerSubset, RowsDoNotDependOnTheirNeighbours) {
  TestModel test(TinyTargetPath(), {}, 2);
  const int layers = test.model().num_layers();
  ASSERT_GE(layers, 4);
  const std::vector<TokenId> tokens = SomeTokens(72, 4096);
  for (const LayerSubset& subset :
       {LayerSubset::First(layers, 2), Without(layers, {1, 2}, {2}), Without(layers, {0}, {layers - 1})}) {
    PartialModel partial(test.model(), subset);
    const auto alone = LogitsOneByOne(partial, *test.pool, tokens);
    EXPECT_NE(CompareChunks(test.model(), *test.pool, tokens, alone, 72), "") << "the layers do nothing";
    EXPECT_EQ(CompareChunks(partial, *test.pool, tokens, alone, 7), "");
    EXPECT_EQ(CompareWidths(partial, *test.pool, tokens, alone, 30, 17), "");
    EXPECT_EQ(CompareRandomTree(partial, *test.pool, tokens, alone, 16, 20, 3), "");
    EXPECT_EQ(CompareMixedBatch(partial, *test.pool, tokens, alone), "");
  }
}

// The first layers see nothing of the later ones: on the whole model's keys and values they say what they say
// on their own.
TEST(LayerSubset, FirstLayersReadTheWholeModelsPages) {
  TestModel test(TinyTargetPath(), {}, 2);
  const std::vector<TokenId> tokens = SomeTokens(30, 4096);
  PartialModel first(test.model(), LayerSubset::First(test.model().num_layers(), 2));
  const auto alone = LogitsOneByOne(first, *test.pool, tokens);
  BlockTable table(*test.pool, test.model().kv_layout_id());
  ForwardBatch prefix, row;
  ASSERT_TRUE(table.Reserve(29).ok());
  for (int i = 0; i < 29; ++i) prefix.rows.push_back({.token = tokens[i]});
  prefix.segments.push_back({&table, 0, 29, true});
  ASSERT_TRUE(test.model().Forward(prefix).ok());
  table.CommitAll();
  ASSERT_TRUE(table.Reserve(1).ok());
  row.rows.push_back({.token = tokens[29], .wanted = WantedOutput::kFull});
  row.segments.push_back({&table, 0, 1, true});
  EXPECT_EQ(first.Forward(row)->rows[0].logits, alone[29]);
}

TEST(LayerSubset, WeightsOfWhatIsLeftOutAreNotRead) {
  TestModel test(TinyTargetPath(), {}, 1);
  const std::vector<TokenId> tokens = SomeTokens(1, 4096);
  const auto bytes = [&](const LayerSubset& subset) {
    PartialModel partial(test.model(), subset);
    const int64_t before = test.model().counters().weight_bytes_read;
    LogitsOneByOne(partial, *test.pool, tokens);
    return test.model().counters().weight_bytes_read - before;
  };
  const int layers = test.model().num_layers();
  const int64_t head = bytes(LayerSubset::First(layers, 0)), all = bytes(LayerSubset::All(layers));
  EXPECT_EQ(bytes(LayerSubset::First(layers, 1)) - head, (all - head) / layers);
  EXPECT_EQ(bytes(Without(layers, {0}, {})) + bytes(Without(layers, {}, {0})),
            all + bytes(Without(layers, {0}, {0})));
}

class LayerSubsetPlain : public testing::TestWithParam<std::string> {};

TEST_P(LayerSubsetPlain, IsTheModelWithoutThoseLayers) {
  RandomModelSpec spec{.architecture = GetParam(),
                       .layers = std::max(3, EnoughLayers(GetParam())),
                       .width = 128,
                       .ffn_width = 192,
                       .head_size = 32};
  const ModelFile file(spec);
  const std::vector<TokenId> tokens = SomeTokens(40, spec.vocab);
  TestModel test(file.path(), kExact, 2);
  for (const LayerSubset& subset : {LayerSubset::First(spec.layers, 1), Without(spec.layers, {1}, {}),
                                    Without(spec.layers, {0, 2}, {1})}) {
    PartialModel partial(test.model(), subset);
    const auto found = LogitsOneByOne(partial, *test.pool, tokens);
    const auto expected = PlainLogits(file.path(), tokens, &subset), whole = PlainLogits(file.path(), tokens);
    double largest = 0, of_layers = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (std::size_t j = 0; j < found[i].size(); ++j) {
        largest = std::max(largest, std::abs(found[i][j] - expected[i][j]));
        of_layers = std::max(of_layers, std::abs(whole[i][j] - expected[i][j]));
      }
    }
    EXPECT_LT(largest, 1e-4);
    EXPECT_GT(of_layers, 0.01) << "leaving them out does nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, LayerSubsetPlain, testing::ValuesIn(AllArchitectures()),
                         [](const auto& info) { return info.param; });

TEST(LayerSubset, ATableSeesOneTokenForEachAttention) {
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  TableModel model(*pool, ContextTable::Random(6, 3, 5));
  ASSERT_EQ(model.num_layers(), 3);
  const std::vector<TokenId> tokens = {4, 1, 5, 2, 3};
  for (int kept = 0; kept <= 3; ++kept) {
    PartialModel partial(model, LayerSubset::First(3, kept));
    EXPECT_EQ(LogitsOneByOne(partial, *pool, tokens)[4], model.Logits(std::span(tokens).last(kept)));
  }
}

}  // namespace
}  // namespace forerun
