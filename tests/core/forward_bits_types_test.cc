// The promise of forward_bits_test.cc for every tensor type of every architecture, in the default numerics
// (int8 activations, f16 cache), on small random models: a bare clone holds all of it to the bit.
#include <cmath>
#include <cstdio>
#include <random>
#include <tuple>

#include "gtest/gtest.h"
#include "kernels/cases/weights.h"
#include "tests/support/forward_bits.h"
#include "tests/support/random_model.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

RandomModelSpec SpecOf(const std::string& architecture, TensorType type) {
  return {.architecture = architecture,
          .type = type,
          .layers = EnoughLayers(architecture),
          .kv_heads = architecture == "gemma3" ? 1 : 2,
          .tied = type != TensorType::kQ4_0};
}

// Longer than gemma3's window of 32, so that the window matters.
std::vector<TokenId> SomeTokens(int count) {
  std::mt19937 random(11);
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<TokenId>(random() % 320));
  return tokens;
}

void KeepFirst(BlockTable& table, int kept) { table.CommitFirst(kept); }

void ExpectEverythingTheSame(TestModel& test, const std::vector<TokenId>& tokens,
                             const std::vector<std::vector<float>>& alone) {
  for (const float logit : alone.back()) ASSERT_TRUE(std::isfinite(logit));
  Model& model = test.model();
  for (const int chunk : {7, 64}) EXPECT_EQ(CompareChunks(model, *test.pool, tokens, alone, chunk), "");
  EXPECT_EQ(CompareWidths(model, *test.pool, tokens, alone, 30, 18), "");
  for (int seed = 0; seed < 3; ++seed) {
    EXPECT_EQ(CompareRandomTree(model, *test.pool, tokens, alone, 5 + 19 * seed, 3 + 6 * seed, seed), "");
  }
  EXPECT_EQ(CompareMixedBatch(model, *test.pool, tokens, alone), "");
  EXPECT_EQ(CompareAfterRejections(model, *test.pool, std::span(tokens).first(40), alone, 3, KeepFirst), "");
}

class ForwardBitsOfType : public testing::TestWithParam<std::tuple<std::string, TensorType>> {
 protected:
  const ModelFile file_{SpecOf(std::get<0>(GetParam()), std::get<1>(GetParam()))};
};

TEST_P(ForwardBitsOfType, RowsDoNotDependOnTheirNeighbours) {
  const std::vector<TokenId> tokens = SomeTokens(64);
  TestModel one(file_.path(), {}, 1), two(file_.path(), {}, 2);
  ExpectEverythingTheSame(two, tokens, LogitsOneByOne(one.model(), *one.pool, tokens));
}

TEST_P(ForwardBitsOfType, SlowInstructionSetsAgree) {
  const std::vector<TokenId> tokens = SomeTokens(36);
  TestModel best(file_.path(), {}, 2);
  const auto alone = LogitsOneByOne(best.model(), *best.pool, tokens);
  for (const Isa isa : kAllIsas) {
    if (isa > DetectIsa()) {
      std::printf("not compared: this machine lacks %s\n", IsaName(isa));
    } else if (isa != DetectIsa()) {
      TestModel other(file_.path(), {}, 2, Kernels(isa));
      EXPECT_EQ(CompareChunks(other.model(), *other.pool, tokens, alone, 17), "") << IsaName(isa);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ForwardBitsOfType,
                         testing::Combine(testing::ValuesIn(AllArchitectures()),
                                          testing::ValuesIn(kAllTensorTypes)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + Info(std::get<1>(info.param)).name;
                         });

// f32 activations and cache.
class ForwardBitsExact : public testing::TestWithParam<std::string> {};

TEST_P(ForwardBitsExact, RowsAndInstructionSetsAgree) {
  const ModelOptions exact{Numerics::kF32, KvDtype::kF32};
  const std::vector<TokenId> tokens = SomeTokens(64);
  for (const TensorType type : {TensorType::kF32, TensorType::kQ4_1, TensorType::kQ6_K}) {
    const ModelFile file(SpecOf(GetParam(), type));
    TestModel one(file.path(), exact, 1), two(file.path(), exact, 2);
    const auto alone = LogitsOneByOne(one.model(), *one.pool, tokens);
    ExpectEverythingTheSame(two, tokens, alone);
    TestModel reference(file.path(), exact, 2, Kernels(Isa::kReference));
    EXPECT_EQ(CompareChunks(reference.model(), *reference.pool, std::span(tokens).first(36), alone, 36), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ForwardBitsExact, testing::ValuesIn(AllArchitectures()),
                         [](const auto& info) { return info.param; });

// --- the checks can fail ---

// One output in the last place, and only where several rows are computed at once.
void WidthDependentMatmul(const MatmulArgs& args, WorkRange range, Lane& lane) {
  MatmulA8Reference(args, range, lane);
  if (args.rows > 1 && range.begin == 0) args.y[0] = std::nextafter(args.y[0], INFINITY);
}

TEST(ForwardBitsOfTypeControls, OneLastPlaceShows) {
  const ModelFile file(SpecOf("llama", TensorType::kQ4_K));
  Kernels kernels(DetectIsa());
  kernels.matmul_a8 = WidthDependentMatmul;
  TestModel test(file.path(), {}, 2, kernels);
  const std::vector<TokenId> tokens = SomeTokens(64);
  const auto alone = LogitsOneByOne(test.model(), *test.pool, tokens);
  EXPECT_NE(CompareChunks(test.model(), *test.pool, tokens, alone, 7), "");
  EXPECT_NE(CompareWidths(test.model(), *test.pool, tokens, alone, 30, 2), "");
  EXPECT_NE(CompareMixedBatch(test.model(), *test.pool, tokens, alone), "");
}

TEST(ForwardBitsOfTypeControls, TheWindowMatters) {
  RandomModelSpec spec = SpecOf("gemma3", TensorType::kQ8_0);
  const ModelFile narrow(spec);
  spec.window = 33;
  const ModelFile wide(spec);
  const std::vector<TokenId> tokens = SomeTokens(64);
  TestModel one(narrow.path(), {}, 2), other(wide.path(), {}, 2);
  const auto alone = LogitsOneByOne(one.model(), *one.pool, tokens);
  EXPECT_NE(CompareChunks(other.model(), *other.pool, tokens, alone, 7), "");
  EXPECT_EQ(CompareChunks(other.model(), *other.pool, std::span(tokens).first(32), alone, 7), "");
}

}  // namespace
}  // namespace forerun
