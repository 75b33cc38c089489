// `forerun check lossless` and its laboratories: right rules pass, wrong ones are seen.
#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "core/base/json.h"
#include "experiments/lossless/model.h"
#include "experiments/lossless/report.h"
#include "experiments/lossless/sampled.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program_test.h"
#include "tests/support/random_heads.h"

namespace forerun {
namespace {

using testing::HasSubstr;

TEST(SampledLaws, RightRulesPassAndMistakesAreSeen) {
  auto report = RunSampledLaws({.rule = "block", .drafter = "draft_model", .texts = 5000});
  ASSERT_TRUE(report.ok()) << report.status();
  JudgeTogether(std::vector{&*report});
  int controls = 0, sampled = 0;
  for (const SampledRow& row : report->rows) {
    EXPECT_FALSE(row.failed()) << row.drafter << ", " << row.rule << ": " << row.p_value();
    EXPECT_FALSE(absl::StrContains(row.drafter, "coupled")) << "no rule for such drafts";
    controls += row.control;
    sampled += row.drafter == "draft_model sampled" && !row.control;
  }
  EXPECT_EQ(sampled, 2);
  EXPECT_EQ(controls, 4);
  EXPECT_EQ(report->tests, 3 * (static_cast<int>(report->rows.size()) - controls));
  EXPECT_GT(report->detectable_shift, 0.01);
  EXPECT_LT(report->detectable_shift, 0.1);
}

class ModelLawsTest : public ProgramTest {};

// What passes is plain sampling and `block`; the same counts call three mistakes wrong.
TEST_F(ModelLawsTest, RightRulesPassAndMistakesAreSeen) {
  auto report = RunModelLaws({.target = kTarget, .draft = "", .rule = "block", .drafter = "", .texts = 500});
  ASSERT_TRUE(report.ok()) << report.status();
  JudgeTogether(std::vector{&*report});
  int controls = 0;
  for (const SampledRow& row : report->rows) {
    EXPECT_FALSE(row.failed()) << row.drafter << ", " << row.rule << ": " << row.p_value();
    controls += row.control;
  }
  EXPECT_EQ(controls, 3);
  EXPECT_EQ(report->rows.size(), 6u);  // plain sampling, two chains and the controls
}

// Heads that know nothing still must not change the law, nor a word at temperature 0.
TEST_F(ModelLawsTest, HeadsAreTriedWhereThereAreSome) {
  const HeadFolder heads(RandomMedusa({.width = 256, .vocab = 4096, .heads = 2}), Json::object());
  const ProgramResult result = Run({"check", "lossless", "--rule", "exact_match", "--drafter", "medusa",
                                    "--tables", "1", "--texts", "8000", "--model-texts", "600", "--seed", "7",
                                    "--model", kTarget, "--heads", "medusa=" + heads.path(), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto report = ParseJson(result.out, "report");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ((*report)["model"]["seed"], 7);
  std::vector<std::string> drafters;
  for (const Json& row : (*report)["model"]["rows"])
    if (row["control"] == false) drafters.push_back(row["drafter"]);
  EXPECT_THAT(drafters, testing::ElementsAre("none", "medusa sampled"));
  ASSERT_EQ((*report)["greedy"].size(), 1u);
  EXPECT_EQ((*report)["greedy"][0]["drafter"], "medusa");
}

TEST(LosslessReport, CountsWhatFailed) {
  LosslessReport report;
  report.exact = {{.rule = "a", .worst_bias = 1e-15},
                  {.rule = "b", .worst_bias = 1e-9},
                  {.rule = "c", .law = Law::kLossy, .worst_bias = 0.5}};
  report.controls = {{.name = "d", .mistake = "seen", .bias = 0.1},
                     {.name = "e", .mistake = "missed", .bias = 1e-9},
                     {.name = "f", .mistake = "none", .bias = 1e-9, .expected = false}};
  report.greedy = {.rows = {{.drafter = "g", .rule = "greedy", .different = 1, .texts = 2}},
                   .left_out = {"h (needs heads)"}};
  EXPECT_EQ(report.checks(), 6);
  EXPECT_EQ(report.failures(), 4);
  const std::string text = LosslessText(report);
  EXPECT_THAT(text, HasSubstr("FAILED"));
  EXPECT_THAT(text, HasSubstr("NOT SEEN"));
  EXPECT_THAT(text, HasSubstr("2 of 6 checks passed"));
  EXPECT_THAT(text, HasSubstr("Left out: h (needs heads)."));
}

class CheckLosslessTest : public ProgramTest {};

TEST_F(CheckLosslessTest, PrintsTablesOrJson) {
  const ProgramResult text =
      Run({"check", "lossless", "--rule", "traversal", "--tables", "1", "--exact-only"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("| traversal "));
  EXPECT_THAT(text.out, HasSubstr("| seen "));
  const std::string folder = kRoot + "/tests/data/tiny-python/";
  const ProgramResult json =
      Run({"check", "lossless", "--rule", "block", "--drafter", "ngram", "--tables", "1", "--texts", "5000",
           "--model-texts", "500", "--model", folder + "tiny-python-target-f16.gguf", "--json"});
  EXPECT_EQ(json.exit_code, 0) << json.err;
  const auto report = ParseJson(json.out, "report");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ((*report)["failures"], 0);
  EXPECT_EQ((*report)["greedy"].size(), 1u);
  EXPECT_EQ((*report)["greedy"][0]["different"], 0);
  int controls = 0;
  for (const Json& row : (*report)["model"]["rows"]) controls += row["control"] == true;
  EXPECT_EQ(controls, 3);
  for (const Json& row : (*report)["exact"]) EXPECT_LE(row["worst_total_variation"], 1e-12);
}

TEST_F(CheckLosslessTest, RefusesWhatItCouldNotUse) {
  ExpectOneLineError(Run({"check", "lossless", "--draft", "x"}), 2, "--draft x: needs --model");
  ExpectOneLineError(Run({"check", "lossless", "--heads", "eagle=x"}), 2, "--heads eagle=x: needs --model");
  for (const char* heads : {"eagle", "ngram=x", "=x", ""}) {
    ExpectOneLineError(Run({"check", "lossless", "--model", "x", "--heads", heads}), 2,
                       "expected eagle=FOLDER or the like");
  }
  ExpectOneLineError(Run({"check", "lossless", "--drafter", "rest", "--rule", "block", "--tables", "1"}), 2,
                     "--drafter rest: needs a corpus, and tables have none: name a model with --model");
  ExpectOneLineError(Run({"check", "lossless", "--exact-only", "--model", "x"}), 2, "--exact-only");
  ExpectOneLineError(Run({"check", "lossless", "--rule", "blok"}), 2, "--rule");
}

}  // namespace
}  // namespace forerun
