// Well-formed GGUF files that are no model of ours by their keys: missing, mistyped, out of range or
// contradictory. Each is refused in one line that names the file, the key, what was expected and what was
// found. Tensors: model_bad_tensors_test.cc.
#include <cstdio>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/model_rejection.h"

namespace forerun {
namespace {

ModelParts SmallLlama() { return ModelParts(SmallSpec("llama")); }

std::string Key(const ModelParts& parts, const std::string& key) {
  return absl::StrCat("key '", parts.architecture, ".", key, "'");
}

class ModelBadFile : public testing::TestWithParam<std::string> {
 protected:
  const ModelParts parts_{SmallSpec(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Architectures, ModelBadFile, testing::ValuesIn(AllArchitectures()),
                         [](const auto& info) { return info.param; });

TEST_P(ModelBadFile, UnspoiltItLoads) { EXPECT_TRUE(IsLoaded(parts_)); }

TEST_P(ModelBadFile, MissingKey) {
  const std::set<std::string> kOptional = {"attention.head_count_kv", "attention.key_length",
                                           "attention.value_length"};
  for (const auto& [key, value] : parts_.counts) {
    if (kOptional.contains(key)) continue;
    ModelParts parts = parts_;
    parts.counts.erase(key);
    EXPECT_TRUE(IsRefused(parts, Key(parts, key), "expected in the file, found no such key"));
  }
  ModelParts parts = parts_;
  parts.numbers.erase("attention.layer_norm_rms_epsilon");
  EXPECT_TRUE(IsRefused(parts, Key(parts, "attention.layer_norm_rms_epsilon"), "found no such key"));
}

TEST_P(ModelBadFile, MistypedKey) {
  for (const auto& [key, value] : parts_.counts) {
    ModelParts text = parts_, number = parts_;
    text.counts.erase(key);
    text.texts[key] = "many";
    EXPECT_TRUE(IsRefused(text, Key(text, key), "expected an integer, found string"));
    number.counts.erase(key);
    number.numbers[key] = static_cast<float>(value);
    EXPECT_TRUE(IsRefused(number, Key(number, key), "expected an integer, found f32"));
  }
  for (const auto& [key, value] : parts_.numbers) {
    ModelParts parts = parts_;
    parts.numbers.erase(key);
    parts.texts[key] = "some";
    EXPECT_TRUE(IsRefused(parts, Key(parts, key), "found string"));
  }
}

TEST_P(ModelBadFile, CountOutOfRange) {
  for (const auto& [key, value] : parts_.counts) {
    for (const uint32_t bad : {0u, (1u << 24) + 1, 1u << 31, ~0u}) {
      ModelParts parts = parts_;
      parts.counts[key] = bad;
      EXPECT_TRUE(IsRefused(parts, Key(parts, key), absl::StrCat(", found ", bad)));
    }
  }
}

TEST_P(ModelBadFile, NumberThatIsNotPositiveAndFinite) {
  constexpr float kBad[] = {0, -1e-5f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), std::numeric_limits<float>::denorm_min()};
  ModelParts base = parts_;
  base.texts["rope.scaling.type"] = "linear";
  base.numbers["rope.scaling.factor"] = 2;
  EXPECT_TRUE(IsLoaded(base));
  for (const auto& [key, value] : base.numbers) {
    for (const float bad : kBad) {
      ModelParts parts = base;
      parts.numbers[key] = bad;
      EXPECT_TRUE(
          IsRefused(parts, Key(parts, key), absl::StrCat("expected a positive finite number, found ", bad)));
    }
  }
}

// A file with nothing but this.
absl::Status StatusOfBare(const GgufBuilder& builder) {
  const std::string path = WriteTemporaryFile("bare.gguf", builder.Build());
  const absl::Status status = LoadStatus(path);
  std::remove(path.c_str());
  return status;
}

TEST(ModelBadFileArchitecture, UnknownMissingOrMistyped) {
  ModelParts parts = SmallLlama();
  parts.architecture = "mamba";
  EXPECT_TRUE(
      IsRefused(parts, "key 'general.architecture'", "expected one of llama, qwen2, gemma3, found 'mamba'"));
  const std::string on_two_lines(
      StatusOfBare(GgufBuilder().String("general.architecture", "llam\na")).message());
  EXPECT_THAT(on_two_lines, testing::EndsWith("found 'llam\\na'"));
  const std::string missing(StatusOfBare(GgufBuilder().U32("k", 1)).message());
  EXPECT_THAT(missing,
              testing::EndsWith("key 'general.architecture': expected in the file, found no such key"));
  const std::string mistyped(StatusOfBare(GgufBuilder().U32("general.architecture", 1)).message());
  EXPECT_THAT(mistyped, testing::HasSubstr("key 'general.architecture' at offset "));
  EXPECT_THAT(mistyped, testing::EndsWith("expected string, found u32"));
}

TEST(ModelBadFileHeads, MustDivideAndFit) {
  const auto with = [](const char* key, uint32_t value) {
    ModelParts parts = SmallLlama();
    parts.counts[key] = value;
    return parts;
  };
  EXPECT_TRUE(IsRefused(with("attention.head_count_kv", 3), "key 'llama.attention.head_count_kv'",
                        "expected a divisor of head_count 2, found 3"));
  EXPECT_TRUE(IsRefused(with("attention.value_length", 16), "key 'llama.attention.value_length'",
                        "expected key_length 32, found 16"));
  EXPECT_TRUE(IsRefused(with("attention.key_length", 40), "key 'llama.attention.value_length'", "found 32"));
  ModelParts odd_head = with("attention.key_length", 40);
  odd_head.counts["attention.value_length"] = 40;
  EXPECT_TRUE(
      IsRefused(odd_head, "key 'llama.attention.key_length'", "a multiple of 16 up to 1024, found 40"));
  // Products of the largest counts must not wrap around to something that fits.
  ModelParts huge = with("attention.head_count", 1 << 24);
  huge.counts["attention.head_count_kv"] = 1 << 24;
  huge.counts["attention.key_length"] = huge.counts["attention.value_length"] = 1024;
  EXPECT_TRUE(IsRefused(huge, "tensor 'blk.0.attn_q.weight'", "expected shape [96, 17179869184]"));
  // Without the key there is a key head for every head.
  ModelParts no_kv = SmallLlama();
  no_kv.counts.erase("attention.head_count_kv");
  EXPECT_TRUE(IsRefused(no_kv, "tensor 'blk.0.attn_k.weight'", "expected shape [96, 64], found [96, 32]"));
}

TEST(ModelBadFileRope, DimensionsScalingAndFactors) {
  for (const uint32_t rotary : {34u, 31u, 1024u}) {
    ModelParts parts = SmallLlama();
    parts.counts["rope.dimension_count"] = rotary;
    EXPECT_TRUE(IsRefused(parts, "key 'llama.rope.dimension_count'",
                          absl::StrCat("an even number up to the head size 32, found ", rotary)));
  }
  ModelParts yarn = SmallLlama();
  yarn.texts["rope.scaling.type"] = "yarn\n";
  EXPECT_TRUE(IsRefused(yarn, "key 'llama.rope.scaling.type'", "expected none or linear, found 'yarn\\n'"));
  ModelParts no_factor = SmallLlama();
  no_factor.texts["rope.scaling.type"] = "linear";
  EXPECT_TRUE(IsRefused(no_factor, "key 'llama.rope.scaling.factor'", "found no such key"));
  ModelParts mistyped = SmallLlama();
  mistyped.counts["rope.scaling.type"] = 1;
  EXPECT_TRUE(IsRefused(mistyped, "key 'llama.rope.scaling.type'", "expected string, found u32"));

  RandomModelSpec spec = SmallSpec("llama");
  spec.rope_factors = true;
  EXPECT_TRUE(IsLoaded(ModelParts(spec)));
  for (const float bad : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    ModelParts parts(spec);
    parts.Tensor("rope_freqs.weight").data.replace(4, 4, Packed(bad));
    EXPECT_TRUE(IsRefused(parts, "tensor 'rope_freqs.weight'",
                          absl::StrCat("expected positive finite numbers, found ", bad)));
  }
}

}  // namespace
}  // namespace forerun
