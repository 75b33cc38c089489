#include "experiments/report/report.h"

#include <string>

#include "experiments/base/progress.h"
#include "experiments/report/comparison_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

ComparisonRow Row(const std::string& category, const std::string& arm, double speedup, double low,
                  double high) {
  ComparisonRow row;
  row.run = "r";
  row.category = category;
  row.arm = arm;
  row.law = "greedy_identical";
  row.arithmetic = "bitwise";
  row.speedup = speedup;
  row.paired_prompts = 5;
  row.speedup_interval = Interval{low, high};
  row.tokens_per_second = 10 * speedup;
  row.tau = 2;
  row.positions.proposed = {4, 2};
  row.positions.survival = {0.5, 0.25};
  row.positions.conditional = {0.5, 0.5};
  return row;
}

ComparisonRow Baseline(const std::string& category) {
  ComparisonRow row = Row(category, "base", 1, 1, 1);
  row.is_baseline = true;
  row.positions = {};
  return row;
}

TEST(Report, VerdictsFollowTheIntervals) {
  const std::vector<ComparisonRow> rows = {
      Baseline("edit"),   Row("edit", "a", 1.9, 1.7, 2.2),   Row("edit", "b", 1.2, 1.1, 1.3),
      Baseline("poetry"), Row("poetry", "a", 0.8, 0.7, 0.9), Row("poetry", "b", 0.9, 0.85, 0.95),
      Baseline("chat"),   Row("chat", "a", 1.01, 0.9, 1.1),  Row("chat", "b", 0.9, 0.8, 0.95)};
  EXPECT_THAT(
      Verdicts(rows),
      ElementsAre(
          "edit: speculation pays: a 1.90x [1.70, 2.20]",
          "poetry: do not speculate here: the best arm is slower than the baseline: b 0.90x [0.85, 0.95]",
          "chat: no clear difference: the best arm is a 1.01x [0.90, 1.10]"));
}

TEST(Report, FewPromptsAreNoVerdict) {
  ComparisonRow row = Row("edit", "a", 1.9, 1.8, 2);
  row.paired_prompts = 3;
  EXPECT_THAT(Verdicts({Baseline("edit"), row}),
              ElementsAre("edit: too few prompts for a verdict (at least 4)"));
}

TEST(Report, ChartMarksTheBaseline) {
  const std::string chart =
      SpeedupChart({Baseline("edit"), Row("edit", "slow", 0.5, 0.4, 0.6), Row("edit", "a", 1.5, 1, 2)});
  EXPECT_EQ(chart,
            "edit\n"
            "  slow  ########        | 0.50x\n"
            "  a     ################|####### 1.50x\n");
}

TEST(ComparisonTable, RunColumnOnlyWhereRunsDiffer) {
  std::vector<ComparisonRow> rows = {Baseline("all"), Row("all", "a", 1.5, 1.2, 1.8)};
  EXPECT_THAT(ComparisonMarkdown(rows), Not(HasSubstr("| run")));
  EXPECT_THAT(ComparisonMarkdown(rows), HasSubstr("1.50 [1.20, 1.80]"));
  rows[1].run = "other";
  EXPECT_THAT(ComparisonMarkdown(rows), HasSubstr("| run"));
}

TEST(ComparisonTable, PartialRunsAreMarked) {
  std::vector<ComparisonRow> rows = {Baseline("all"), Row("all", "a", 1.5, 1.2, 1.8)};
  for (ComparisonRow& row : rows) row.requests_done = row.requests_planned = 54;
  EXPECT_THAT(ComparisonMarkdown(rows), Not(HasSubstr("partial")));
  for (ComparisonRow& row : rows) row.requests_done = 8;
  EXPECT_THAT(ComparisonMarkdown(rows), StartsWith("partial: 8 of 54 requests\n\n|"));
}

TEST(ComparisonTable, UndefinedIsNullAndEmpty) {
  ComparisonRow row = Row("all", "a", 1.5, 1.2, 1.8);
  row.tau.reset();
  row.positions.conditional[1].reset();
  row.identity.reset();
  const Json json = ComparisonJson({row});
  EXPECT_TRUE(json["rows"][0]["tau"].is_null());
  EXPECT_TRUE(json["rows"][0]["identical"].is_null());
  EXPECT_EQ(json["rows"][0]["survival"], Json({0.5, 0.25}));
  EXPECT_EQ(json["rows"][0]["conditional"], Json({0.5, nullptr}));
  EXPECT_THAT(ComparisonMarkdown({row}), HasSubstr("|  50   – "));
  const std::string csv = ComparisonCsv({row});
  EXPECT_THAT(csv, HasSubstr(",survival,conditional,time_percent_draft,"));
  EXPECT_THAT(csv, HasSubstr(",0.5;0.25,0.5;,"));
}

TEST(Progress, DurationsForPeople) {
  EXPECT_EQ(DurationText(0.4), "0 s");
  EXPECT_EQ(DurationText(59.6), "1 min 00 s");
  EXPECT_EQ(DurationText(200), "3 min 20 s");
  EXPECT_EQ(DurationText(3900), "1 h 05 min");
}

}  // namespace
}  // namespace forerun
