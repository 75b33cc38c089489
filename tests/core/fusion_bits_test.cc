// No fusion setting changes a bit: all sixteen, for every architecture, numerics and instruction set, against
// the unfused reference kernels.
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/forward_bits.h"
#include "tests/support/random_model.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

constexpr Fusion kNothing{.qkv = false, .attention = false, .ffn = false, .residual = false};

std::vector<Fusion> AllSettings() {
  std::vector<Fusion> all;
  for (int bits = 0; bits < 16; ++bits) {
    all.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0});
  }
  return all;
}

std::string NameOf(const Fusion& fusion) {
  return absl::StrCat("qkv ", fusion.qkv, ", attention ", fusion.attention, ", ffn ", fusion.ffn,
                      ", residual ", fusion.residual);
}

std::vector<TokenId> SomeTokens(int count) {
  std::mt19937 random(17);
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<TokenId>(random() % 320));
  return tokens;
}

std::vector<std::vector<float>> UnfusedReference(const std::string& path, const ModelOptions& options,
                                                 std::span<const TokenId> tokens) {
  TestModel reference(path, options, 1, Kernels(Isa::kReference));
  reference.loaded.model->SetFusion(kNothing);
  return LogitsOneByOne(reference.model(), *reference.pool, tokens);
}

// Chunks, widths, trees and a mixed batch under every setting.
void ExpectTheSameUnderAllSettings(TestModel& test, std::span<const TokenId> tokens,
                                   const std::vector<std::vector<float>>& alone) {
  for (const Fusion& fusion : AllSettings()) {
    SCOPED_TRACE(NameOf(fusion));
    test.loaded.model->SetFusion(fusion);
    EXPECT_EQ(CompareChunks(test.model(), *test.pool, tokens, alone, 1), "");
    EXPECT_EQ(CompareChunks(test.model(), *test.pool, tokens, alone, 33), "");
    EXPECT_EQ(CompareWidths(test.model(), *test.pool, tokens, alone, 30, 5), "");
    EXPECT_EQ(CompareRandomTree(test.model(), *test.pool, tokens, alone, 24, 9, 3), "");
    EXPECT_EQ(CompareMixedBatch(test.model(), *test.pool, tokens, alone), "");
  }
}

class FusionBits : public testing::TestWithParam<std::string> {
 protected:
  RandomModelSpec Spec(TensorType type) const {
    return {.architecture = GetParam(),
            .type = type,
            .layers = EnoughLayers(GetParam()),
            .kv_heads = GetParam() == "gemma3" ? 1 : 2};  // gemma3: one KV head for all query heads
  }
};

TEST_P(FusionBits, EverySettingAndInstructionSet) {
  const std::vector<TokenId> tokens = SomeTokens(48);
  for (const TensorType type : {TensorType::kQ4_K, TensorType::kQ8_0, TensorType::kF16}) {
    const ModelFile file(Spec(type));
    const auto alone = UnfusedReference(file.path(), {}, tokens);
    for (const Isa isa : kAllIsas) {
      if (isa > DetectIsa() || isa == Isa::kReference) continue;
      SCOPED_TRACE(absl::StrCat(Info(type).name, " ", IsaName(isa)));
      TestModel test(file.path(), {}, 2, Kernels(isa));
      ExpectTheSameUnderAllSettings(test, tokens, alone);
    }
  }
}

TEST_P(FusionBits, FloatActivations) {
  const ModelOptions exact{Numerics::kF32, KvDtype::kF32};
  const std::vector<TokenId> tokens = SomeTokens(48);
  const ModelFile file(Spec(TensorType::kQ4_1));
  TestModel test(file.path(), exact, 2);
  ExpectTheSameUnderAllSettings(test, tokens, UnfusedReference(file.path(), exact, tokens));
}

// A head of 16 or 48 values: its codes share blocks of 32 with its neighbours'.
TEST_P(FusionBits, HeadsThatAreNoWholeBlocks) {
  const std::vector<TokenId> tokens = SomeTokens(48);
  for (const int head_size : {16, 48}) {
    RandomModelSpec spec = Spec(TensorType::kQ8_0);
    spec.head_size = head_size;
    spec.heads = 4;
    const ModelFile file(spec);
    TestModel test(file.path(), {}, 2);
    ExpectTheSameUnderAllSettings(test, tokens, UnfusedReference(file.path(), {}, tokens));
  }
}

// A context of several chunks, so that attention is cut into parts and merged by whoever ends last.
TEST_P(FusionBits, LongContextsInParts) {
  const std::vector<TokenId> tokens = SomeTokens(500);
  RandomModelSpec spec = Spec(TensorType::kQ8_0);
  spec.window = 300;
  const ModelFile file(spec);
  TestModel one(file.path(), {}, 1);
  one.loaded.model->SetFusion(kNothing);
  const auto alone = LogitsOneByOne(one.model(), *one.pool, tokens);
  TestModel four(file.path(), {}, 4);
  for (const Fusion& fusion : {kNothing, Fusion()}) {
    four.loaded.model->SetFusion(fusion);
    EXPECT_EQ(CompareChunks(four.model(), *four.pool, tokens, alone, 3), "") << NameOf(fusion);
    EXPECT_EQ(CompareWidths(four.model(), *four.pool, tokens, alone, 470, 12), "") << NameOf(fusion);
    EXPECT_EQ(CompareRandomTree(four.model(), *four.pool, tokens, alone, 480, 12, 5), "") << NameOf(fusion);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, FusionBits, testing::ValuesIn(AllArchitectures()),
                         [](const auto& info) { return info.param; });

// --- the checks can fail ---

// One last place, and only in the fused operations, which name a stride; also where one lane took a whole
// row.
void SliceDependentGate(const GateArgs& args, WorkRange rows, Lane& lane) {
  kGate.reference(args, rows, lane);
  if (args.stride == 0) return;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    float& first = args.y[row * args.stride];
    first = std::nextafter(first, INFINITY);
  }
}

TEST(FusionBitsControls, OneLastPlaceShows) {
  const ModelFile file(RandomModelSpec{.type = TensorType::kF16});
  Kernels kernels(DetectIsa());
  kernels.gate = SliceDependentGate;
  TestModel test(file.path(), {}, 2, kernels);
  const std::vector<TokenId> tokens = SomeTokens(20);
  const auto alone = UnfusedReference(file.path(), {}, tokens);
  test.loaded.model->SetFusion(kNothing);
  EXPECT_EQ(CompareChunks(test.model(), *test.pool, tokens, alone, 5), "");
  test.loaded.model->SetFusion({});
  EXPECT_NE(CompareChunks(test.model(), *test.pool, tokens, alone, 5), "");
}

}  // namespace
}  // namespace forerun
