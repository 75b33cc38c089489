#include "experiments/bench/ablation_config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

absl::StatusOr<AblationConfig> Read(const std::string& text) {
  return ReadAblationConfig(ParseJson(text, "text").value_or(Json()));
}
std::string ErrorOf(const std::string& text) { return std::string(Read(text).status().message()); }

TEST(AblationConfig, ShippedOneSetsEveryClassAgainstAll) {
  const auto json =
      ReadJsonFile(std::string(FORERUN_SOURCE_DIR) + "/experiments/configs/fusion_ablation.json");
  ASSERT_TRUE(json.ok()) << json.status();
  const auto config = ReadAblationConfig(*json);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->plan.rows, ElementsAre(1, 4, 8));
  EXPECT_EQ(config->plan.prefill, 512);
  ASSERT_THAT(config->plan.fusions, SizeIs(6));
  EXPECT_EQ(config->plan.fusions[0].fusion, Fusion());
  EXPECT_FALSE(config->plan.fusions[1].fusion.qkv);
  EXPECT_EQ(config->plan.fusions[5].name, "none");
}

TEST(AblationConfig, OtherSettingsAndDefaults) {
  const auto config =
      Read(R"({"models": ["a"], "settings": ["none", "all"], "numerics": "f32", "context": 0})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->plan.fusions[0].name, "none");
  EXPECT_THAT(config->plan.numerics, ElementsAre("f32"));
  EXPECT_THAT(config->plan.contexts, ElementsAre(0));
  EXPECT_THAT(Read(R"({"models": ["a"]})")->plan.fusions, SizeIs(6));
}

TEST(AblationConfig, Refusals) {
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("models: expected at least one model's name"));
  EXPECT_THAT(ErrorOf(R"({"models": ["a"], "rows": [1, 0]})"), HasSubstr("integers from 1 to 512, found 0"));
  EXPECT_THAT(ErrorOf(R"({"models": ["a"], "rows": [1.5]})"), HasSubstr("found 1.5"));
  EXPECT_THAT(ErrorOf(R"({"models": ["a"], "rows": []})"), HasSubstr("rows: expected at least one"));
  EXPECT_THAT(ErrorOf(R"({"models": ["a"], "settings": ["no_fnn"]})"), HasSubstr("nearest is no_ffn"));
  EXPECT_THAT(ErrorOf(R"({"models": ["a"], "repeats": 2})"),
              HasSubstr("repeats: unknown key; nearest is repeat"));
  EXPECT_THAT(ErrorOf(R"({"models": ["a"], "repeat": 0})"), HasSubstr("repeat: expected"));
}

}  // namespace
}  // namespace forerun
