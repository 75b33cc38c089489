// kill -9 at random moments, then --resume: no request is lost, doubled or changed.
#include <map>
#include <random>
#include <string>

#include "experiments/config/config.h"
#include "experiments/report/compare.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace forerun {
namespace {

constexpr int kTrials = 10;
const std::string kConfig = std::string(FORERUN_SOURCE_DIR) + "/experiments/configs/smoke.json";

std::vector<std::string> Arguments(const std::string& out) {
  return {"run", kConfig, "--out", out, "--resume", "--limit", "4", "--set", "max_new_tokens=16"};
}

// What must be the same in every run of the config: everything but times and memory.
std::map<std::string, std::string> Outcomes(const LoadedRun& run) {
  std::map<std::string, std::string> outcomes;
  for (const LoggedRequest& request : run.records.requests) {
    Json json = RequestRowJson(request.row);
    for (const char* key : {"prefill_seconds", "decode_seconds", "peak_rss_bytes"}) json.erase(key);
    std::string text = DumpJson(json);
    for (const RoundRecord& round : request.rounds) {
      Json line = RoundJson(request.row.unit, round);
      for (const char* key : {"draft_ms", "verify_ms", "sample_ms", "other_ms"}) line.erase(key);
      text.append("\n").append(DumpJson(line));
    }
    EXPECT_TRUE(outcomes.emplace(request.row.unit, text).second) << "doubled: " << request.row.unit;
  }
  return outcomes;
}

TEST(Resume, NothingIsLostOrDoubledByKills) {
  const TemporaryFolder folder("resume");
  ASSERT_EQ(RunForerun(Arguments("whole"), folder.path()).exit_code, 0);
  const auto whole = LoadRun(folder / "whole");
  ASSERT_TRUE(whole.ok()) << whole.status();
  const auto expected = Outcomes(*whole);
  EXPECT_EQ(expected.size(), 4u * 10);  // four prompts: the baseline twice, five other arms

  std::mt19937 random(2024);
  int kills = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::string out = "killed" + std::to_string(trial);
    ProgramResult result;
    for (int attempt = 0; attempt < 60; ++attempt) {
      const double longest = 0.2 + 0.1 * attempt;  // grows, so that even a slow machine gets on
      ProgramLimits limits = {.kill_after_seconds = longest * static_cast<double>(random() % 1000) / 1000};
      if (attempt >= 4) limits = {};  // after a few kills it may finish
      result = RunForerun(Arguments(out), folder.path(), limits);
      if (result.exit_code >= 0) break;
      ++kills;
    }
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto run = LoadRun(folder / out);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(Outcomes(*run), expected) << "trial " << trial;
  }
  EXPECT_GE(kills, kTrials);
}

TEST(Resume, InterruptStopsBetweenRequestsAndSaysHowToGoOn) {
  const TemporaryFolder folder("interrupt");
  std::vector<std::string> arguments = {"run", kConfig, "--out", "run", "--set", "max_new_tokens=400"};
  const ProgramResult stopped = RunForerun(arguments, folder.path(), {.interrupt_after_seconds = 1.5});
  ASSERT_EQ(stopped.exit_code, 5) << stopped.err;
  EXPECT_THAT(stopped.err,
              ::testing::HasSubstr("forerun: interrupted; the same command with --resume continues"));
  const auto run = LoadRun(folder / "run");
  ASSERT_TRUE(run.ok()) << run.status();
}

TEST(Resume, LimitAndBudgetCanBeContinued) {
  const TemporaryFolder folder("limit");
  std::vector<std::string> arguments = {"run",     kConfig, "--out", "run", "--set", "max_new_tokens=8",
                                        "--limit", "1"};
  ASSERT_EQ(RunForerun(arguments, folder.path()).exit_code, 0);
  EXPECT_EQ(LoadRun(folder / "run")->records.requests.size(), 10u);
  arguments.back() = "3";
  arguments.push_back("--resume");
  arguments.insert(arguments.end(), {"--budget", "0.000001"});  // one prompt always fits
  const ProgramResult spent = RunForerun(arguments, folder.path());
  EXPECT_EQ(spent.exit_code, 0);
  EXPECT_THAT(spent.err, ::testing::HasSubstr("the budget is spent"));
  EXPECT_EQ(LoadRun(folder / "run")->records.requests.size(), 20u);
  arguments.resize(arguments.size() - 2);
  ASSERT_EQ(RunForerun(arguments, folder.path()).exit_code, 0);
  EXPECT_EQ(LoadRun(folder / "run")->records.requests.size(), 30u);
}

}  // namespace
}  // namespace forerun
