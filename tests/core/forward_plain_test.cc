// `--exact` against the forward pass written a second time, from the definition, in double precision: every
// feature of every architecture, on small random models that have it.
#include <algorithm>
#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "tests/support/forward_bits.h"
#include "tests/support/plain_transformer.h"
#include "tests/support/random_model.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

constexpr double kTolerance = 1e-4;
const ModelOptions kExact{Numerics::kF32, KvDtype::kF32};

std::vector<TokenId> SomeTokens(int count, int vocab) {
  std::mt19937 random(7);
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<TokenId>(random() % vocab));
  return tokens;
}

double LargestDifference(const std::vector<std::vector<float>>& found,
                         const std::vector<std::vector<double>>& expected) {
  double largest = 0;
  EXPECT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].size(), expected[i].size());
    for (std::size_t j = 0; j < found[i].size(); ++j) {
      const double difference = std::abs(found[i][j] - expected[i][j]);
      largest = difference <= largest ? largest : difference;  // NaN wins
    }
  }
  return largest;
}

std::vector<std::vector<float>> ExactLogits(const std::string& path, const std::vector<TokenId>& tokens) {
  TestModel test(path, kExact, 2);
  return LogitsOneByOne(test.model(), *test.pool, tokens);
}

// How far `--exact` is from the plain pass on this model.
double Distance(const RandomModelSpec& spec, int count = 80) {
  const ModelFile file(spec);
  const std::vector<TokenId> tokens = SomeTokens(count, spec.vocab);
  return LargestDifference(ExactLogits(file.path(), tokens), PlainLogits(file.path(), tokens));
}

RandomModelSpec SpecOf(const std::string& architecture) {
  return {.architecture = architecture,
          .layers = EnoughLayers(architecture),
          .width = 128,
          .ffn_width = 192,
          .head_size = 32};
}

// Wide enough for super-blocks of 256 weights.
RandomModelSpec WideSpecOf(const std::string& architecture, TensorType type) {
  return {.architecture = architecture, .type = type, .layers = EnoughLayers(architecture)};
}

class ForwardPlain : public testing::TestWithParam<std::string> {};

TEST_P(ForwardPlain, TiedHead) { EXPECT_LT(Distance(SpecOf(GetParam())), kTolerance); }

TEST_P(ForwardPlain, UntiedHead) {
  RandomModelSpec spec = SpecOf(GetParam());
  spec.tied = false;
  EXPECT_LT(Distance(spec, 40), kTolerance);
}

TEST_P(ForwardPlain, OneKvHead) {
  RandomModelSpec spec = SpecOf(GetParam());
  spec.kv_heads = 1;
  EXPECT_LT(Distance(spec, 40), kTolerance);
}

TEST_P(ForwardPlain, EveryHeadItsOwnKeys) {
  RandomModelSpec spec = SpecOf(GetParam());
  spec.kv_heads = spec.heads;
  EXPECT_LT(Distance(spec, 40), kTolerance);
}

TEST_P(ForwardPlain, PartialRotary) {
  RandomModelSpec spec = SpecOf(GetParam());
  spec.rotary = 12;
  EXPECT_LT(Distance(spec, 40), kTolerance);
}

TEST_P(ForwardPlain, LinearRopeScaling) {
  RandomModelSpec spec = SpecOf(GetParam());
  spec.linear_scaling = 4;
  EXPECT_LT(Distance(spec, 40), kTolerance);
}

TEST_P(ForwardPlain, RopeFactors) {
  RandomModelSpec spec = SpecOf(GetParam());
  spec.rope_factors = true;
  EXPECT_LT(Distance(spec, 40), kTolerance);
}

TEST_P(ForwardPlain, HeadsWiderThanTheStream) {
  RandomModelSpec spec = SpecOf(GetParam());
  spec.width = 96;
  EXPECT_LT(Distance(spec, 40), kTolerance);
}

// Kernels have tails; no size of a float model need be a multiple of anything but the head size.
TEST_P(ForwardPlain, OddSizes) {
  RandomModelSpec spec = SpecOf(GetParam());
  spec.width = 77;
  spec.ffn_width = 133;
  spec.heads = 6;
  spec.kv_heads = 3;
  spec.head_size = 48;
  spec.vocab = 297;
  EXPECT_LT(Distance(spec, 40), kTolerance);
}

TEST_P(ForwardPlain, QuantisedWeightsAreWhatTheyAreWorth) {
  for (const TensorType type : {TensorType::kF16, TensorType::kQ4_0, TensorType::kQ4_K, TensorType::kQ6_K}) {
    const RandomModelSpec spec = WideSpecOf(GetParam(), type);
    EXPECT_LT(Distance(spec, 12), kTolerance) << Info(type).name;
  }
}

// The default, int8 activations and an f16 cache, stays close to the truth: by design not within a
// thousandth, but far nearer than any mistake would leave it.
TEST_P(ForwardPlain, Int8ActivationsAreNear) {
  for (const TensorType type : {TensorType::kQ8_0, TensorType::kQ4_1, TensorType::kQ6_K}) {
    const RandomModelSpec spec = WideSpecOf(GetParam(), type);
    const ModelFile file(spec);
    const std::vector<TokenId> tokens = SomeTokens(12, spec.vocab);
    TestModel test(file.path(), {}, 2);
    const double distance =
        LargestDifference(LogitsOneByOne(test.model(), *test.pool, tokens), PlainLogits(file.path(), tokens));
    EXPECT_LT(distance, 0.3) << Info(type).name;
    EXPECT_GT(distance, kTolerance) << Info(type).name;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, ForwardPlain, testing::ValuesIn(AllArchitectures()),
                         [](const auto& info) { return info.param; });

TEST(ForwardPlainWindow, MattersAndIsMetExactly) {
  RandomModelSpec spec = SpecOf("gemma3");
  for (const int window : {1, 16, 17, 33}) {
    spec.window = window;
    EXPECT_LT(Distance(spec, 40), kTolerance) << window;
  }
}

// --- the comparison can fail: each feature, left out of one side, is seen ---

struct Change {
  const char* name;
  void (*apply)(ModelParts& parts);
};

double DistanceOfChanged(const RandomModelSpec& spec, const Change& change) {
  ModelParts parts(spec);
  const ModelFile straight(parts);
  change.apply(parts);
  const ModelFile changed(parts);
  const std::vector<TokenId> tokens = SomeTokens(36, spec.vocab);
  return LargestDifference(ExactLogits(changed.path(), tokens), PlainLogits(straight.path(), tokens));
}

TEST(ForwardPlainControls, EveryFeatureShows) {
  const Change changes[] = {
      {"window one shorter", [](ModelParts& parts) { --parts.counts["attention.sliding_window"]; }},
      {"rotary 30 of 32",
       [](ModelParts& parts) {
         parts.counts["rope.dimension_count"] = 30;
         parts.Tensor("rope_freqs.weight").shape = {15};
         parts.Tensor("rope_freqs.weight").data.resize(15 * sizeof(float));
       }},
      {"rope base 10 % higher", [](ModelParts& parts) { parts.numbers["rope.freq_base"] *= 1.1f; }},
      {"no linear scaling", [](ModelParts& parts) { parts.texts["rope.scaling.type"] = "none"; }},
      {"no rope factors", [](ModelParts& parts) { parts.Remove("rope_freqs.weight"); }},
      {"another epsilon",
       [](ModelParts& parts) { parts.numbers["attention.layer_norm_rms_epsilon"] = 0.01f; }},
      {"untied head dropped", [](ModelParts& parts) { parts.Remove("output.weight"); }},
  };
  RandomModelSpec spec = SpecOf("gemma3");
  spec.linear_scaling = 2;
  spec.rope_factors = true;
  spec.tied = false;
  for (const Change& change : changes)
    EXPECT_GT(DistanceOfChanged(spec, change), 2 * kTolerance) << change.name;
}

TEST(ForwardPlainControls, BiasesAndRotaryPairingShow) {
  const Change change = {"as llama", [](ModelParts& parts) {
                           parts.architecture = "llama";
                           std::erase_if(parts.tensors, [](const GgufEntry& tensor) {
                             return tensor.name.find(".bias") != std::string::npos;
                           });
                         }};
  EXPECT_GT(DistanceOfChanged(SpecOf("qwen2"), change), 2 * kTolerance);
}

}  // namespace
}  // namespace forerun
