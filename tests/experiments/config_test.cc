#include "experiments/config/config.h"

#include <string>

#include "experiments/config/config_overrides.h"
#include "experiments/config/sampling_config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using ::testing::HasSubstr;

constexpr char kSmall[] = R"({
  "name": "small", "target": "t.gguf", "prompts": {"file": "p.jsonl"}, "prompt_format": "raw",
  "arms": [{"name": "base", "drafter": {"type": "none"}},
           {"name": "look", "drafter": {"type": "ngram", "num_speculative_tokens": 3, "ngram": {"max": 4}}}]})";

Json Small() { return *ParseJson(kSmall, "small"); }

// The small config with some values set.
absl::StatusOr<ExperimentConfig> With(const std::vector<std::string>& overrides) {
  Json json = Small();
  for (const std::string& override : overrides) {
    const absl::Status status = ApplyOverride(override, &json);
    if (!status.ok()) return status;
  }
  return ReadConfig(json);
}

std::string ErrorOf(const std::vector<std::string>& overrides) {
  const auto config = With(overrides);
  EXPECT_FALSE(config.ok());
  return std::string(config.status().message());
}

TEST(Config, FillsDefaults) {
  const auto config = With({});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->baseline, 0);
  EXPECT_EQ(config->max_new_tokens, 128);
  EXPECT_EQ(config->engine.numerics, "a8");
  EXPECT_TRUE(config->engine.packed_cache);
  EXPECT_FALSE(With({"engine={\"packed_cache\": false}"})->engine.packed_cache);
  EXPECT_EQ(config->arms[0].num_speculative_tokens, 0);
  EXPECT_EQ(config->arms[0].rule, "greedy");
  EXPECT_EQ(config->arms[1].num_speculative_tokens, 3);
  EXPECT_FALSE(config->arms[1].drafter.contains("num_speculative_tokens"));
  EXPECT_EQ(config->arms[1].drafter["ngram"]["max"], 4);
  EXPECT_FALSE(config->arms[0].drafts());
  EXPECT_TRUE(config->arms[1].drafts());
}

TEST(Config, ResolvedConfigIsAFixedPoint) {
  for (const std::vector<std::string>& overrides : std::vector<std::vector<std::string>>{
           {},
           {"prompt_format=chat", "system=Be brief.", "bracket=arm", "engine={\"isa\": \"avx2\"}"},
           {"fusion={\"qkv\": false}"},
           {"sampling={\"temperature\": 0.8, \"seed\": 7, \"logit_bias\": {\"5\": -1.5}}"},
           {"arms.1.sampling={\"temperature\": 0.7}", "stop_strings=[\"\\n\"]", "concurrency=4"}}) {
    const auto config = With(overrides);
    ASSERT_TRUE(config.ok()) << config.status();
    const Json resolved = ResolvedConfig(*config);
    const auto again = ReadConfig(resolved);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(ResolvedConfig(*again), resolved);
  }
}

TEST(Config, HashNamesTheRun) {
  const std::string plain = DefaultRunDirectory(*With({}));
  EXPECT_THAT(plain, ::testing::MatchesRegex("runs/small-[0-9a-f]{8}"));
  EXPECT_EQ(DefaultRunDirectory(*With({"max_new_tokens=128"})),
            plain);  // a default written out changes nothing
  EXPECT_NE(DefaultRunDirectory(*With({"max_new_tokens=64"})), plain);
}

TEST(Config, UnknownKeysNameTheNearest) {
  EXPECT_EQ(ErrorOf({"max_new_token=5"}), "max_new_token: unknown key; nearest is max_new_tokens");
  EXPECT_EQ(ErrorOf({"arms.1.drafter.num_speculatve_tokens=5"}),
            "arms.1.drafter.num_speculatve_tokens: unknown key; nearest is num_speculative_tokens");
  EXPECT_THAT(ErrorOf({"arms.0.drafter.ngram={}"}), HasSubstr("arms.0.drafter.ngram: unknown key"));
  EXPECT_THAT(ErrorOf({"sampling={\"temprature\": 1}"}),
              HasSubstr("sampling.temprature: unknown key; nearest is temperature"));
  EXPECT_THAT(ErrorOf({"arms.1.sampling={\"topk\": 1}"}),
              HasSubstr("arms.1.sampling.topk: unknown key; nearest is top_k"));
  EXPECT_THAT(ErrorOf({"engine={\"thread\": 1}"}),
              HasSubstr("engine.thread: unknown key; nearest is threads"));
  EXPECT_THAT(ErrorOf({"prompts.categoris=[]"}), HasSubstr("nearest is categories"));
  EXPECT_THAT(ErrorOf({"arms.1.verifier={\"rule\": \"greddy\"}"}), HasSubstr("nearest: greedy"));
  EXPECT_THAT(ErrorOf({"arms.1.drafter.type=ngarm"}), HasSubstr("nearest: ngram"));
}

TEST(Config, FusionIsOnUnlessSwitchedOff) {
  EXPECT_EQ(With({})->engine.fusion, Fusion());
  const auto config = With({"fusion={\"ffn\": false}"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->engine.fusion, (Fusion{.qkv = true, .attention = true, .ffn = false, .residual = true}));
  const Json resolved = ResolvedConfig(*config);
  EXPECT_EQ(DumpJson(resolved["fusion"]),
            "{\"qkv\":true,\"attention\":true,\"ffn\":false,\"residual\":true}");
  EXPECT_THAT(ErrorOf({"fusion={\"qvk\": false}"}), HasSubstr("fusion.qvk: unknown key; nearest is qkv"));
  EXPECT_THAT(ErrorOf({"fusion={\"ffn\": 0}"}), HasSubstr("fusion.ffn: expected"));
  EXPECT_THAT(ErrorOf({"fusion=false"}), HasSubstr("fusion: expected"));
}

TEST(Config, MissingKeys) {
  for (const char* key : {"name", "target", "prompts", "prompt_format", "arms"}) {
    Json json = Small();
    json.erase(key);
    EXPECT_THAT(std::string(ReadConfig(json).status().message()), HasSubstr(std::string(key) + ": expected"));
  }
  Json json = Small();
  json["arms"][0].erase("drafter");
  EXPECT_THAT(std::string(ReadConfig(json).status().message()), HasSubstr("arms.0.drafter: expected"));
}

TEST(Config, ContradictionsAreErrors) {
  EXPECT_THAT(ErrorOf({"arms.0.drafter.num_speculative_tokens=4"}),
              HasSubstr("expected 0, as type is none, found 4"));
  EXPECT_THAT(ErrorOf({"draft=d.gguf"}), HasSubstr("would be loaded and never used"));
  EXPECT_THAT(ErrorOf({"arms.1.drafter={\"type\": \"draft_model\"}"}), HasSubstr("needs a draft model"));
  EXPECT_THAT(
      ErrorOf({"draft=d", "arms.1.drafter={\"type\": \"draft_model\", \"num_speculative_tokens\": 0}"}),
      HasSubstr("never used"));
  EXPECT_THAT(ErrorOf({"system=x"}), HasSubstr("system: expected nothing, as prompt_format is raw"));
  EXPECT_THAT(ErrorOf({"chat_template=gemma"}), HasSubstr("chat_template: expected nothing"));
  EXPECT_THAT(ErrorOf({"arms.1.name=base"}), HasSubstr("\"base\" is used twice"));
  EXPECT_THAT(ErrorOf({"baseline=look"}),
              HasSubstr("expected an arm with drafter.type none (base), found \"look\""));
  EXPECT_THAT(ErrorOf({"arms.0.drafter.type=random"}), HasSubstr("to be the baseline"));
  EXPECT_THAT(ErrorOf({"name=../up"}), HasSubstr("name: expected letters"));
  EXPECT_THAT(ErrorOf({"arms.1.name=a/b"}), HasSubstr("arms.1.name: expected a name without /"));
  EXPECT_THAT(ErrorOf({"arms.1.name=\"a\\nb\""}), HasSubstr("without control characters, found \"a\\nb\""));
  EXPECT_THAT(ErrorOf({"arms=[]"}), HasSubstr("at least one arm"));
  EXPECT_THAT(ErrorOf({"stop_strings=[\"\"]"}), HasSubstr("stop_strings"));
}

TEST(Config, NumbersOutOfRange) {
  for (const char* seed : {"-1", "18446744073709551615"}) {
    EXPECT_THAT(ErrorOf({"sampling={\"seed\": " + std::string(seed) + "}"}),
                HasSubstr("expected an integer from 0 to 9223372036854775807, found " + std::string(seed)));
  }
  for (const char* key : {"05", "5 ", "-1", "4294967297"}) {
    EXPECT_THAT(ErrorOf({"sampling={\"logit_bias\": {\"" + std::string(key) + "\": 1}}"}),
                HasSubstr("token id"));
  }
  EXPECT_THAT(ErrorOf({"engine={\"threads\": 257}"}), HasSubstr("from 0 to 256, found 257"));
}

TEST(Config, RuleFollowsTheSampling) {
  const auto config = With({"sampling={\"temperature\": 0.8}"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->arms[0].rule, "exact_match");  // plain sampling
  EXPECT_EQ(config->arms[1].rule, "rejection");
  EXPECT_THAT(ErrorOf({"sampling={\"temperature\": 0.8}", "arms.1.verifier={\"rule\": \"greedy\"}"}),
              HasSubstr("arms.1.verifier.rule"));
}

TEST(Config, VerifierIsANameOrAnObject) {
  const auto named = With({"arms.1.verifier=typical"});
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->arms[1].rule, "typical");
  EXPECT_EQ(DumpJson(ResolvedConfig(*named)["arms"][1]["verifier"]),
            R"({"rule":"typical","epsilon":0.09,"delta":0.3})");
  const auto object = With({"arms.1.verifier={\"rule\": \"relaxed\", \"ratio\": 0.5}"});
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(DumpJson(ResolvedConfig(*object)["arms"][1]["verifier"]),
            R"({"rule":"relaxed","top_k":5,"ratio":0.5})");
  EXPECT_THAT(ErrorOf({"arms.1.verifier=typicle"}), HasSubstr("nearest: typical"));
  EXPECT_EQ(ErrorOf({"arms.1.verifier={\"rule\": \"typical\", \"epsilom\": 0.1}"}),
            "arms.1.verifier.epsilom: unknown key; nearest is epsilon");
}

TEST(Config, ArmsMayOverrideTheSampling) {
  const auto config =
      With({"sampling={\"temperature\": 0.8, \"top_k\": 20}", "arms.1.sampling={\"temperature\": 0.3}"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FLOAT_EQ(config->arms[0].sampling.temperature, 0.8f);
  EXPECT_FLOAT_EQ(config->arms[1].sampling.temperature, 0.3f);
  EXPECT_EQ(config->arms[1].sampling.top_k, 20);
}

TEST(Overrides, PathsMustExistUpToTheirLastStep) {
  Json json = Small();
  EXPECT_TRUE(ApplyOverride("target=other", &json).ok());
  EXPECT_EQ(json["target"], "other");
  EXPECT_TRUE(ApplyOverride("arms.1.drafter.num_speculative_tokens=8", &json).ok());
  EXPECT_EQ(json["arms"][1]["drafter"]["num_speculative_tokens"], 8);
  EXPECT_TRUE(ApplyOverride("system=a=b", &json).ok());  // only the first = counts
  EXPECT_EQ(json["system"], "a=b");
  const auto error = [&](const char* text) { return std::string(ApplyOverride(text, &json).message()); };
  EXPECT_THAT(error("sampling.temperature=1"), HasSubstr("there is no \"sampling\"; there are name, target"));
  EXPECT_THAT(error("arms.2.name=x"), HasSubstr("expected an index below 2, found \"2\""));
  EXPECT_THAT(error("arms.x.name=x"), HasSubstr("found \"x\""));
  EXPECT_THAT(error("target.a=1"), HasSubstr("has no members"));
  EXPECT_THAT(error("target"), HasSubstr("expected path=value"));
}

TEST(SamplingConfig, FloatsAreWrittenShort) {
  Sampling sampling;
  sampling.temperature = 0.8f;
  EXPECT_THAT(DumpJson(SamplingJson(sampling)), HasSubstr("\"temperature\":0.8,"));
}

TEST(Config, ShippedConfigsAreValid) {
  for (const char* name : {"smoke", "quickstart", "quickstart-qwen-coder"}) {
    const std::string path = std::string(FORERUN_SOURCE_DIR) + "/experiments/configs/" + name + ".json";
    const auto config = LoadConfig(path, {});
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->name, name);
    EXPECT_NE(FindConfigFile(*config, config->prompts.file), "") << config->prompts.file;
  }
}

}  // namespace
}  // namespace forerun
