// Hidden states that a forward keeps: what they are, that keeping them changes nothing, and that they do not
// depend on what stands beside a row.
#include <algorithm>
#include <cmath>
#include <random>

#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/plain_transformer.h"
#include "tests/support/random_model.h"
#include "tests/support/scoring.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

constexpr double kTolerance = 1e-4;
const ModelOptions kExact{Numerics::kF32, KvDtype::kF32};

RandomModelSpec SpecOf(const std::string& architecture, TensorType type = TensorType::kF32) {
  return {.architecture = architecture, .type = type, .layers = EnoughLayers(architecture)};
}

std::vector<TokenId> SomeTokens(int count) {
  std::mt19937 random(5);
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<TokenId>(random() % 320));
  return tokens;
}

std::vector<int> AllTaps(const Backbone& backbone) {
  std::vector<int> taps;
  for (int tap = 0; tap < backbone.layers() + 2; ++tap) taps.push_back(tap);
  return taps;
}

// Rows after what the table has committed; they stay reserved.
ForwardResult RunTapped(Model& model, BlockTable& table, std::span<const TokenId> tokens,
                        std::span<const int> parents, std::vector<int> taps) {
  EXPECT_TRUE(table.Reserve(static_cast<int>(tokens.size())).ok());
  ForwardBatch batch;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    batch.rows.push_back({.token = tokens[i],
                          .parent = parents.empty() ? static_cast<int>(i) - 1 : parents[i],
                          .wanted = WantedOutput::kFull,
                          .tapped = !taps.empty()});
  }
  batch.segments.push_back({&table, 0, static_cast<int32_t>(tokens.size()), parents.empty()});
  batch.taps = std::move(taps);
  absl::StatusOr<ForwardResult> result = model.Forward(batch);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

std::vector<float> RowOf(const std::vector<float>& tap, int row, int width) {
  return {tap.begin() + row * width, tap.begin() + (row + 1) * width};
}

double Distance(const std::vector<float>& found, const std::vector<std::vector<double>>& expected) {
  double largest = 0;
  const std::size_t width = expected[0].size();
  EXPECT_EQ(found.size(), expected.size() * width);
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(found[i] - expected[i / width][i % width]));
  }
  return largest;
}

class HiddenStates : public testing::TestWithParam<std::string> {};

TEST_P(HiddenStates, AreThoseOfThePlainPassAndNoneIsItsNeighbour) {
  const ModelFile file(SpecOf(GetParam()));
  TestModel test(file.path(), kExact, 2);
  const std::vector<TokenId> tokens = SomeTokens(40);
  const PlainForward plain = RunPlain(file.path(), tokens);
  BlockTable table(*test.pool, test.model().kv_layout_id());
  const std::vector<int> taps = AllTaps(*test.model().backbone());
  const ForwardResult result = RunTapped(test.model(), table, tokens, {}, taps);
  ASSERT_EQ(plain.states.size(), taps.size());
  for (std::size_t tap = 0; tap < taps.size(); ++tap) {
    EXPECT_LT(Distance(result.taps[tap], plain.states[tap]), kTolerance) << "tap " << tap;
    if (tap > 0) {
      EXPECT_GT(Distance(result.taps[tap], plain.states[tap - 1]), 0.1) << "tap " << tap;
    }
  }
}

TEST_P(HiddenStates, KeepingThemChangesNoBitAndOrderAndRowsAreAsAskedFor) {
  const ModelFile file(SpecOf(GetParam(), TensorType::kQ8_0));
  TestModel test(file.path(), {}, 2);
  const int width = test.model().backbone()->width();
  const std::vector<TokenId> tokens = SomeTokens(20);
  BlockTable table(*test.pool, test.model().kv_layout_id());
  const ForwardResult plain = RunTapped(test.model(), table, tokens, {}, {});
  const ForwardResult all = RunTapped(test.model(), table, tokens, {}, {1, 0});
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_TRUE(SameBits(all.rows[i].logits, plain.rows[i].logits));
  }
  EXPECT_TRUE(plain.taps.empty());

  ForwardBatch batch;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    batch.rows.push_back({.token = tokens[i], .tapped = i % 3 == 1});
  batch.segments.push_back({&table, 0, static_cast<int32_t>(tokens.size()), true});
  batch.taps = {0, 1};
  const ForwardResult some = *test.model().Forward(batch);
  for (int i = 1, kept = 0; i < 20; i += 3, ++kept) {
    for (const int tap : {0, 1}) {
      EXPECT_TRUE(SameBits(RowOf(some.taps[tap], kept, width), RowOf(all.taps[1 - tap], i, width)));
    }
  }
}

TEST_P(HiddenStates, DoNotDependOnNeighboursChunksOrTheTree) {
  const ModelFile file(SpecOf(GetParam(), TensorType::kQ8_0));
  TestModel test(file.path(), {}, 2);
  Model& model = test.model();
  const int width = model.backbone()->width();
  const std::vector<int> taps = AllTaps(*model.backbone());
  const std::vector<TokenId> tokens = SomeTokens(24);
  BlockTable table(*test.pool, model.kv_layout_id()), chain(*test.pool, model.kv_layout_id());
  std::vector<ForwardResult> alone;
  for (const TokenId token : tokens) {
    alone.push_back(RunTapped(model, table, {&token, 1}, {}, taps));
    table.CommitAll();
  }
  const ForwardResult together = RunTapped(model, chain, tokens, {}, taps);
  for (std::size_t tap = 0; tap < taps.size(); ++tap) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_TRUE(SameBits(alone[i].taps[tap], RowOf(together.taps[tap], static_cast<int>(i), width)))
          << "tap " << tap << ", row " << i;
    }
  }
  // Rows 20 .. 23 again, as the nodes 0, 2, 3, 5 of a tree after the first 20 tokens.
  chain.CommitFirst(20);
  const TokenId tree[] = {tokens[20], 7, tokens[21], tokens[22], 9, tokens[23]};
  const int parents[] = {-1, 0, 0, 2, 1, 3};
  const ForwardResult nodes = RunTapped(model, chain, tree, parents, taps);
  for (std::size_t tap = 0; tap < taps.size(); ++tap) {
    for (int i = 0; i < 4; ++i) {
      constexpr int kNodes[] = {0, 2, 3, 5};
      EXPECT_TRUE(SameBits(alone[20 + i].taps[tap], RowOf(nodes.taps[tap], kNodes[i], width)));
    }
  }
}

TEST_P(HiddenStates, TheLastOneTimesTheHeadGivesTheLogits) {
  for (const ModelOptions& options : {kExact, ModelOptions()}) {
    const ModelFile file(SpecOf(GetParam(), TensorType::kQ8_0));
    TestModel test(file.path(), options, 2);
    Backbone& backbone = *test.model().backbone();
    BlockTable table(*test.pool, test.model().kv_layout_id());
    const std::vector<TokenId> tokens = SomeTokens(9);
    const ForwardResult result = RunTapped(test.model(), table, tokens, {}, {backbone.layers() + 1});
    std::vector<ForwardRow> rows(9, {.wanted = WantedOutput::kFull});
    rows[2].wanted = WantedOutput::kNone;
    rows[5] = {.wanted = WantedOutput::kTopK, .top_k = 3};
    const std::vector<RowOutput> outputs = *backbone.HeadOutputs(result.taps[0], rows);
    for (int i = 0; i < 9; ++i) {
      if (rows[i].wanted != WantedOutput::kFull) continue;
      EXPECT_TRUE(SameBits(outputs[i].logits, result.rows[i].logits)) << "row " << i;
    }
    EXPECT_TRUE(outputs[2].logits.empty());
    ASSERT_EQ(outputs[5].top.size(), 3u);
    const std::vector<float>& logits = result.rows[5].logits;
    EXPECT_EQ(outputs[5].argmax, std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
}

TEST_P(HiddenStates, TheFirstIsTheEmbedding) {
  const ModelFile file(SpecOf(GetParam()));
  TestModel test(file.path(), {}, 1);
  Backbone& backbone = *test.model().backbone();
  BlockTable table(*test.pool, test.model().kv_layout_id());
  const std::vector<TokenId> tokens = SomeTokens(6);
  std::vector<float> embedded(tokens.size() * backbone.width());
  backbone.Embed(tokens, embedded.data());
  EXPECT_TRUE(SameBits(embedded, RunTapped(test.model(), table, tokens, {}, {0}).taps[0]));
}

INSTANTIATE_TEST_SUITE_P(Architectures, HiddenStates, testing::ValuesIn(AllArchitectures()),
                         [](const auto& info) { return info.param; });

TEST(HiddenStatesOf, AStateThatTheModelLacksIsRefused) {
  const ModelFile file(SpecOf("llama"));
  TestModel test(file.path(), {}, 1);
  BlockTable table(*test.pool, test.model().kv_layout_id());
  for (const int tap : {-1, 4}) {
    ASSERT_TRUE(table.Reserve(1).ok());
    ForwardBatch batch{
        .rows = {{.token = 1, .tapped = true}}, .segments = {{&table, 0, 1, true}}, .taps = {tap}};
    const absl::Status refused = test.model().Forward(batch).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_NE(std::string(refused.message()).find("taps: expected numbers from 0 to 3"), std::string::npos);
  }
}

TEST(HiddenStatesOf, ATableHasNone) {
  const auto pool = *KvPool::Create({.budget_bytes = 1 << 20, .slab_bytes = 1 << 16});
  TableModel table(*pool, ContextTable(4, 1));
  EXPECT_EQ(table.backbone(), nullptr);
  EXPECT_TRUE(absl::IsInvalidArgument(table.Forward({.rows = {}, .segments = {}, .taps = {0}}).status()));
}

}  // namespace
}  // namespace forerun
