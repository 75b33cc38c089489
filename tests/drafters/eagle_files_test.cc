// What an EAGLE head's files may say, and how a mistake in them is answered.
#include "absl/strings/str_cat.h"
#include "drafters/heads/eagle_config.h"
#include "drafters/heads/eagle_head.h"
#include "gtest/gtest.h"
#include "tests/support/random_heads.h"

namespace forerun {
namespace {

constexpr int kLayers = 8;

Json ConfigWith(const Json& more) {
  Json config = EagleConfigOf({});
  for (const auto& member : more.items()) config[member.key()] = member.value();
  return config;
}

EagleConfig Read(const Json& more, bool eagle3 = true) {
  const absl::StatusOr<EagleConfig> config =
      ReadEagleConfig(ConfigWith(more), "config.json", eagle3, kLayers);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : EagleConfig();
}

// --- which states: off by one is the mistake that nothing else shows ---

TEST(EagleTaps, AreTheStatesThatEnterTheSecondTheMiddleAndTheThirdLayerFromTheEnd) {
  EXPECT_EQ(Read({}).taps, (std::vector<int>{2, 4, 5}));
  EXPECT_EQ(Read({}, /*eagle3=*/false).taps, (std::vector<int>{9}));
}
TEST(EagleTaps, SpecForgeCountsTheLayersThatTheyLeave) {
  const Json ids = {1, 3, 4};  // its default for eight layers
  EXPECT_EQ(Read({{"eagle_config", {{"eagle_aux_hidden_state_layer_ids", ids}}}}).taps, Read({}).taps);
  EXPECT_EQ(Read({{"eagle_aux_hidden_state_layer_ids", ids}}).taps, Read({}).taps);
}
TEST(EagleTaps, SpeculatorsCountTheLayersThatTheyEnter) {
  const Json config = {{"speculators_model_type", "eagle3"},
                       {"transformer_layer_config", EagleConfigOf({})},
                       {"eagle_aux_hidden_state_layer_ids", {2, 4, 5}}};
  EXPECT_EQ(ReadEagleConfig(config, "config.json", true, kLayers)->taps, Read({}).taps);
}

TEST(EagleConfigTest, Defaults) {
  const EagleConfig config =
      *ReadEagleConfig({{"hidden_size", 64}, {"intermediate_size", 96}, {"num_attention_heads", 4}},
                       "config.json", true, kLayers);
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.head_size, 16);
  EXPECT_EQ(config.rope_base, 10000);
  EXPECT_EQ(config.rope_scale, 1);
  EXPECT_FLOAT_EQ(config.norm_epsilon, 1e-6f);
  EXPECT_EQ(config.draft_vocab, 0);
  EXPECT_TRUE(config.norm_before_head);
  EXPECT_FALSE(config.feed_back_normed);
}

TEST(EagleConfigTest, RopeScaling) {
  EXPECT_EQ(Read({{"rope_scaling", nullptr}}).rope_scale, 1);
  EXPECT_EQ(Read({{"rope_scaling", {{"rope_type", "default"}}}}).rope_scale, 1);
  EXPECT_EQ(Read({{"rope_scaling", {{"type", "linear"}, {"factor", 4}}}}).rope_scale, 0.25f);
}

TEST(EagleConfigTest, WhatIsWrongIsNamed) {
  const struct {
    Json more;
    const char* message;
  } kCases[] = {
      {{{"hidden_size", nullptr}},
       "config.json.hidden_size: expected a whole number from 1 to 16777216, found none"},
      {{{"hidden_size", -1}}, "found -1"},
      {{{"num_attention_heads", 1.5}}, "config.json.num_attention_heads"},
      {{{"num_key_value_heads", 3}}, "config.json.num_key_value_heads: expected a divisor of 4, found 3"},
      {{{"head_dim", 24}}, "config.json.head_dim: expected a multiple of 16, found 24"},
      {{{"hidden_act", "gelu"}}, "config.json.hidden_act: expected silu, found \"gelu\""},
      {{{"rms_norm_eps", "small"}}, "config.json.rms_norm_eps: expected a number above 0"},
      {{{"rope_scaling", {{"rope_type", "llama3"}}}}, "config.json.rope_scaling: expected none or linear"},
      {{{"rope_scaling", 7}}, "config.json.rope_scaling: expected none or linear, found 7"},
      {{{"rope_scaling", {{"rope_type", 7}}}}, "config.json.rope_scaling: expected none or linear"},
      {{{"norm_before_residual", 1}}, "config.json.norm_before_residual: expected true or false, found 1"},
      {{{"eagle_config", {{"use_aux_hidden_state", false}}}},
       "config.json.eagle_config.use_aux_hidden_state: expected true, found false"},
      {{{"eagle_config", {{"norm_output", "yes"}}}}, "config.json.eagle_config.norm_output"},
      {{{"eagle_aux_hidden_state_layer_ids", {1, 8, 4}}}, "expected three layers of 8, found [1,8,4]"},
      {{{"eagle_aux_hidden_state_layer_ids", {1, 4}}}, "expected three layers of 8, found [1,4]"},
  };
  for (const auto& [more, message] : kCases) {
    const absl::Status refused = ReadEagleConfig(ConfigWith(more), "config.json", true, kLayers).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << message;
    EXPECT_NE(std::string(refused.message()).find(message), std::string::npos) << refused << "\n" << message;
  }
}

// --- tensors ---

void ExpectRefused(const SafetensorsBuilder& tensors, const Json& config, const std::string& part) {
  PlainBackbone backbone(320, 64, kLayers, 7);
  const HeadFolder folder(tensors, config);
  const absl::Status refused =
      EagleHead::Load(*HeadFiles::Open(folder.path()), backbone, 320, KvDtype::kF32).status();
  EXPECT_FALSE(refused.ok()) << part;
  EXPECT_NE(std::string(refused.message()).find(part), std::string::npos) << refused << "\n" << part;
}

TEST(BadEagle, OtherShapes) {
  ExpectRefused(RandomEagle({.width = 48}), EagleConfigOf({}), "tensor 'fc.weight'");
  ExpectRefused(RandomEagle({.width = 48}), EagleConfigOf({.width = 48}), ".hidden_size: expected 64");
  ExpectRefused(RandomEagle({.eagle3 = false, .width = 48, .own_embedding = true}),
                EagleConfigOf({.eagle3 = false, .width = 48}),
                ".hidden_size: expected the target's 64, found 48");
  ExpectRefused(RandomEagle({.draft_vocab = 80}), EagleConfigOf({}),
                "expected shape [96, 64], found [80, 64]");
  ExpectRefused(RandomEagle({.vocab = 300, .own_embedding = true}), EagleConfigOf({}),
                "tensor 'embed_tokens.weight'");
}

TEST(BadEagle, WordsWithoutAMap) {
  // 96 words are said to be all, and 320 to be a part of them.
  ExpectRefused(RandomEagle({.vocab = 96}), EagleConfigOf({}),
                "expected tensor 'd2t', as the head has 96 of 320 words");
  ExpectRefused(RandomEagle({.vocab = 96}).Integers("d2t", {0}), EagleConfigOf({}),
                "tensor 'd2t': expected 96 offsets, found 1");
  std::vector<int64_t> offsets(96);
  offsets[5] = 315;
  ExpectRefused(RandomEagle({.vocab = 96}).Integers("d2t", offsets), EagleConfigOf({}),
                "tensor 'd2t': word 5: expected a target id from 0 to 319, found 320");
  offsets[5] = 1;  // the id of word 6
  ExpectRefused(RandomEagle({.vocab = 96}).Integers("d2t", offsets), EagleConfigOf({}),
                "word 6: expected a target id of its own, found 6 a second time");
}

TEST(BadEagle, TensorsThatAreNone) {
  ExpectRefused(RandomEagle({}).Floats("layers.1.mlp.up_proj.weight", {1}, {1}), EagleConfigOf({}),
                "expected only the tensors of an EAGLE-3 head, found this one as well");
  // EAGLE-1 has no norm before its attention.
  ExpectRefused(
      RandomEagle({.eagle3 = false}).Floats("layers.0.input_layernorm.weight", {64}, std::vector<float>(64)),
      EagleConfigOf({.eagle3 = false}), "expected only the tensors of an EAGLE-1 head");
  ExpectRefused(RandomMedusa({}), EagleConfigOf({}), "expected tensor 'fc.weight', found none of that name");
  ExpectRefused(RandomEagle({}), Json::object(), "config.json.hidden_size");
}

}  // namespace
}  // namespace forerun
