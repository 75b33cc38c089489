// `forerun run` and `forerun compare` as their users meet them.
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/json.h"
#include "experiments/report/compare.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program_test.h"

namespace forerun {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RunCommandTest : public ProgramTest {};

TEST_F(RunCommandTest, FullDiskKeepsWhatIsDone) {
  // The limit must hold the config, the environment and some requests, but not all of them.
  std::vector<std::string> arguments = {"run", kConfig, "--set", "max_new_tokens=8", "--out", "run"};
  const ProgramResult full = Run(arguments, {.file_bytes = 12000});
  ExpectOneLineError(full, 4, "cannot write: File too large");
  const auto before = ReadRunRecords(folder_ / "run");
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_GT(before->requests.size(), 0u);
  arguments.push_back("--resume");
  const ProgramResult resumed = Run(arguments);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(ReadRunRecords(folder_ / "run")->requests.size(), 9u * 10);
}

TEST_F(RunCommandTest, RunWritesEverythingAndComparePrintsIt) {
  const ProgramResult run = RunSmoke({"--out", "run"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* name :
       {kConfigFile, kEnvironmentFile, kRequestsFile, kRoundsFile, kSummaryFile, kReportFile}) {
    EXPECT_TRUE(std::filesystem::exists((folder_ / "run/") + name)) << name;
  }
  ExpectOneLineError(RunSmoke({"--out", "run"}), 2, "--resume");
  const ProgramResult markdown = Run({"compare", "run"});
  EXPECT_THAT(markdown.out, HasSubstr("| all"));
  EXPECT_THAT(markdown.out, HasSubstr("greedy_identical, bitwise"));
  EXPECT_THAT(Run({"compare", "run", "--format", "csv"}).out, StartsWith("run,arm,category,baseline,"));
  const auto json = ParseJson(Run({"compare", "run", "--format", "json", "--by", "arm"}).out, "compare");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ((*json)["rows"].size(), 9u);
  EXPECT_EQ((*json)["rows"][3]["arm"], "oracle-k4");
  EXPECT_EQ((*json)["rows"][3]["acceptance_rate"], 1.0);
  for (const Json& row : (*json)["rows"]) EXPECT_EQ(row["identical"], row["identical_of"]);
  ExpectOneLineError(Run({"compare", "nowhere"}), 3, "nowhere: no run here");
  const ProgramResult against = Run({"compare", "run", "--against", "suffix-k8", "--times", "typical"});
  EXPECT_THAT(against.out, ContainsRegex("suffix-k8 .* 1 .baseline."));
  EXPECT_THAT(against.out, HasSubstr("times: typical ones"));
  ExpectOneLineError(Run({"compare", "run", "--against", "x"}), 2, "expected an arm to compare against of");
}

TEST_F(RunCommandTest, AShortlistIsMarkedInEveryRowAndTable) {
  const std::string list = kRoot + "/tests/data/tiny-python/shortlist.json";
  const ProgramResult run = RunSmoke({"--out", "run", "--set", "arms.2.drafter.shortlist=" + list});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string note = "shortlist 1702 of 4096";
  const auto records = ReadRunRecords(folder_ / "run");
  ASSERT_TRUE(records.ok()) << records.status();
  for (const LoggedRequest& request : records->requests) {
    EXPECT_EQ(request.row.drafter_note, request.row.arm == "draft-k4" ? note : "");
  }
  EXPECT_THAT(Run({"compare", "run"}).out, HasSubstr("greedy_identical, bitwise; " + note));
  const auto json = ParseJson(Run({"compare", "run", "--format", "json", "--by", "arm"}).out, "compare");
  EXPECT_EQ((*json)["rows"][2]["drafter_note"], note);
  EXPECT_TRUE((*json)["rows"][1]["drafter_note"].is_null());
  EXPECT_EQ((*json)["rows"][2]["identical"], (*json)["rows"][2]["identical_of"]);
  ExpectOneLineError(RunSmoke({"--out", "other", "--set", "arms.2.drafter.shortlist=nowhere.json"}), 3,
                     "nowhere.json");
}

TEST_F(RunCommandTest, SampledRunsPairByTheirKeys) {
  const ProgramResult run = RunSmoke({"--out", "run", "--set", "sampling.temperature=0.8", "--set",
                                      "arms.1.verifier={\"rule\": \"exact_match\"}"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto loaded = LoadRun(folder_ / "run");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const std::vector<ComparisonRow> rows = *CompareRun(*loaded, {.by_category = false, .against = ""});
  EXPECT_EQ(rows[1].law, "exact_law");
  ASSERT_TRUE(rows[1].identity.has_value());
  EXPECT_EQ(rows[1].identity->identical, rows[1].identity->compared);  // the very text of plain sampling
  EXPECT_FALSE(rows[2].identity.has_value());  // rejection promises the law, not the text
}

// A lossy rule runs, says so in every row, and is not held to the baseline's text.
TEST_F(RunCommandTest, LossyRulesSaySo) {
  const ProgramResult run = RunSmoke(
      {"--out", "run", "--set", "arms.1.verifier={\"rule\": \"relaxed\", \"top_k\": 3, \"ratio\": 0}",
       "--set", "arms.2.verifier={\"rule\": \"synthetic\", \"acceptance\": [0.5]}"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto loaded = LoadRun(folder_ / "run");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const std::vector<ComparisonRow> rows = *CompareRun(*loaded, {.by_category = false, .against = ""});
  EXPECT_EQ(rows[0].law, "greedy_identical");
  EXPECT_EQ(rows[1].law, "lossy");
  EXPECT_EQ(rows[2].law, "synthetic");
  EXPECT_TRUE(rows[0].is_baseline);
  EXPECT_FALSE(rows[1].identity.has_value());
  EXPECT_FALSE(rows[2].identity.has_value());
  EXPECT_THAT(Run({"compare", "run"}).out, HasSubstr("lossy, bitwise"));
}

// Where no rule is named, the one for such drafts is taken, and the record says which.
TEST_F(RunCommandTest, TreesHaveTheirOwnDefaultRule) {
  const std::vector<std::string> tree = {
      "--out", "run", "--set", "sampling.temperature=1", "--set", "arms.1.drafter.ngram={\"branches\": 2}"};
  const ProgramResult run = RunSmoke(tree);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto loaded = LoadRun(folder_ / "run");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.arms[1].rule, "tree_recursive");
  EXPECT_EQ(loaded->config.arms[2].rule, "rejection");
  std::vector<std::string> named = tree;
  named.insert(named.end(), {"--set", "arms.1.verifier=rejection"});
  named[1] = "other";
  ExpectOneLineError(RunSmoke(named), 2, "not for a deterministic tree");
}

// What a rule is not proved for is refused before the first request, with the rules that fit.
TEST_F(RunCommandTest, PairingsThatBiasAreRefused) {
  ExpectOneLineError(RunSmoke({"--out", "run", "--set", "arms.1.verifier=k_seq"}), 2,
                     "use one of \"greedy\"");
  ExpectOneLineError(RunSmoke({"--out", "run", "--set", "sampling.temperature=1", "--set",
                               "arms.2.drafter.sample=coupled", "--set", "arms.2.verifier=block"}),
                     2, "not for a coupled sampled chain");
}

// In a run it is the request's error: the others finish, and the table counts it.
TEST_F(RunCommandTest, RunGoesOnAfterARequestThatRanOut) {
  std::ofstream prompts(folder_ / "prompts.jsonl");
  std::string longer;
  for (int i = 0; i < 170; ++i) longer += "x = y\\n";
  prompts << "{\"id\": 1, \"category\": \"long\", \"prompt\": \"" << longer << "\"}\n"
          << "{\"id\": 2, \"category\": \"short\", \"prompt\": \"x = y\\n\"}\n";
  prompts.close();
  const ProgramResult run = Run(
      {"run", kConfig, "--out", "run", "--set", "prompts={\"file\": \"" + (folder_ / "prompts.jsonl") + "\"}",
       "--set", "engine={\"kv_budget_mib\": 4, \"kv_dtype\": \"f32\"}", "--set", "max_new_tokens=8"});
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_THAT(run.err, HasSubstr("requests failed; the first: 1/baseline/0: KV pool"));
  const ProgramResult again =
      Run({"run", kConfig, "--resume", "--out", "run", "--set",
           "prompts={\"file\": \"" + (folder_ / "prompts.jsonl") + "\"}", "--set",
           "engine={\"kv_budget_mib\": 4, \"kv_dtype\": \"f32\"}", "--set", "max_new_tokens=8"});
  EXPECT_EQ(again.exit_code, 4) << again.err;  // what failed before has still failed
  EXPECT_THAT(again.err, HasSubstr("requests failed; the first: 1/baseline/0: KV pool"));
  const std::vector<ComparisonRow> rows = *CompareRun(*LoadRun(folder_ / "run"), {});
  EXPECT_EQ(rows[0].errors, 2);
  EXPECT_EQ(rows[0].requests, 2);
  EXPECT_EQ(rows[0].prompts, 1);  // the other was never served
}

}  // namespace
}  // namespace forerun
