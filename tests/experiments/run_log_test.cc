#include "experiments/run/run_log.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "experiments/base/files.h"
#include "experiments/run/run_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RunLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = ::testing::TempDir() + "/run_log_test." + std::to_string(getpid());
    fs::remove_all(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  absl::StatusOr<std::unique_ptr<RunLog>> Open(bool resume, int k = 4) {
    return RunLog::Open(directory_, Json{{"name", "x"}, {"arms", {{{"k", k}}}}}, resume);
  }

  // Logs request `i` with i rounds.
  static absl::Status Append(RunLog& log, int i) {
    RequestRow row;
    row.prompt = std::to_string(i);
    row.arm = "base";
    row.unit = UnitKey(row.prompt, row.arm, 0);
    row.rounds = i;
    row.output.assign(i, 1);
    std::vector<RoundRecord> rounds(i);
    for (int r = 0; r < i; ++r) {
      rounds[r].round = r;
      rounds[r].emitted = {1};
    }
    return log.Append(row, rounds);
  }

  std::string Path(const char* name) const { return directory_ + "/" + name; }
  void AppendText(const char* name, const std::string& text) {
    std::ofstream(Path(name), std::ios::app) << text;
  }

  std::string directory_;
};

TEST_F(RunLogTest, WritesAndResumes) {
  {
    auto log = Open(false);
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_TRUE(Append(**log, 2).ok());
    EXPECT_TRUE(Append(**log, 3).ok());
  }
  auto log = Open(true);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_TRUE((*log)->Done("3/base/0"));
  EXPECT_FALSE((*log)->Done("4/base/0"));
  EXPECT_TRUE(Append(**log, 4).ok());
  const auto records = ReadRunRecords(directory_);
  ASSERT_TRUE(records.ok()) << records.status();
  ASSERT_EQ(records->requests.size(), 3u);
  EXPECT_EQ(records->requests[2].rounds.size(), 4u);
}

TEST_F(RunLogTest, TornTailsAreCutOff) {
  { EXPECT_TRUE(Append(**Open(false), 2).ok()); }
  const auto requests_bytes = fs::file_size(Path(kRequestsFile));
  const auto rounds_bytes = fs::file_size(Path(kRoundsFile));
  AppendText(kRoundsFile,
             DumpJson(RoundJson("9/base/0", {})) + "\n{\"unit\": \"9/ba");  // a request without its line
  AppendText(kRequestsFile, "{\"unit\": \"9/base/0\", \"arm");
  EXPECT_EQ(ReadRunRecords(directory_)->requests.size(), 1u);  // a reader passes over them
  { ASSERT_TRUE(Open(true).ok()); }
  EXPECT_EQ(fs::file_size(Path(kRequestsFile)), requests_bytes);
  EXPECT_EQ(fs::file_size(Path(kRoundsFile)), rounds_bytes);
}

TEST_F(RunLogTest, EveryCutOfTheFilesCanBeResumed) {
  {
    auto log = Open(false);
    for (int i = 1; i <= 3; ++i) EXPECT_TRUE(Append(**log, i).ok());
  }
  const std::string requests = *ReadFile(Path(kRequestsFile));
  const std::string rounds = *ReadFile(Path(kRoundsFile));
  for (std::size_t cut = 0; cut <= requests.size();
       cut += 7) {  // as a crash while writing the requests' file
    ASSERT_TRUE(WriteFileAtomically(Path(kRequestsFile), requests.substr(0, cut)).ok());
    ASSERT_TRUE(WriteFileAtomically(Path(kRoundsFile), rounds).ok());
    auto log = Open(true);
    ASSERT_TRUE(log.ok()) << cut << ": " << log.status();
    for (int i = (*log)->num_done() + 1; i <= 3; ++i) EXPECT_TRUE(Append(**log, i).ok());
    EXPECT_EQ(*ReadFile(Path(kRequestsFile)), requests) << cut;
    EXPECT_EQ(*ReadFile(Path(kRoundsFile)), rounds) << cut;
  }
}

TEST_F(RunLogTest, DamageInTheMiddleIsAnError) {
  {
    auto log = Open(false);
    for (int i = 1; i <= 3; ++i) EXPECT_TRUE(Append(**log, i).ok());
  }
  std::string rounds = *ReadFile(Path(kRoundsFile));
  const std::string second = rounds.substr(rounds.find('\n') + 1);
  ASSERT_TRUE(WriteFileAtomically(Path(kRoundsFile), second).ok());  // the first round is gone
  const auto log = Open(true);
  EXPECT_EQ(log.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(log.status().message()), HasSubstr("expected round 0 of 1/base/0"));
}

TEST_F(RunLogTest, DoubledUnitsAreAnError) {
  { EXPECT_TRUE(Append(**Open(false), 1).ok()); }
  AppendText(kRequestsFile, *ReadFile(Path(kRequestsFile)));
  EXPECT_THAT(std::string(ReadRunRecords(directory_).status().message()),
              HasSubstr("unit 1/base/0 is doubled"));
}

TEST_F(RunLogTest, RefusesToMixRuns) {
  { EXPECT_TRUE(Append(**Open(false), 1).ok()); }
  EXPECT_THAT(std::string(Open(false).status().message()), HasSubstr("--resume continues it"));
  EXPECT_THAT(std::string(Open(true, /*k=*/8).status().message()), HasSubstr("arms.0.k: 4 and 8"));
  EXPECT_TRUE(Open(true).ok());
}

TEST_F(RunLogTest, OneWriterAtATime) {
  auto first = Open(false);
  ASSERT_TRUE(first.ok());
  const auto second = Open(true);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another process"));
  first->reset();
  EXPECT_TRUE(Open(true).ok());
}

TEST_F(RunLogTest, SessionsMustHaveTheSameInputs) {
  auto log = Open(false);
  EXPECT_TRUE((*log)->BeginSession({{"isa", "avx2"}, {"inputs", {{"target", "aa"}}}}).ok());
  EXPECT_TRUE((*log)->BeginSession({{"isa", "avx512"}, {"inputs", {{"target", "aa"}}}}).ok());
  EXPECT_THAT(std::string((*log)->BeginSession({{"inputs", {{"target", "bb"}}}}).message()),
              HasSubstr("target: \"aa\" and \"bb\""));
  EXPECT_EQ((*ReadJsonFile(Path(kEnvironmentFile)))["sessions"].size(), 2u);
}

TEST_F(RunLogTest, AMissingEnvironmentIsDamage) {
  { EXPECT_TRUE(Append(**Open(false), 1).ok()); }
  const absl::Status status = (*Open(true))->BeginSession({{"inputs", {{"target", "aa"}}}});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("environment.json: missing, though 1 requests"));
}

TEST_F(RunLogTest, FilesOfOthersStayAsTheyAre) {
  fs::create_directory(directory_);
  AppendText(kRequestsFile, "not ours");
  EXPECT_EQ(Open(true).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(Open(false).status().message()), HasSubstr("holds files but no run"));
  EXPECT_EQ(*ReadFile(Path(kRequestsFile)), "not ours");
  EXPECT_FALSE(fs::exists(Path(kRoundsFile)));
}

TEST_F(RunLogTest, AStartThatWasCutShortCanBeRepeated) {
  fs::create_directory(directory_);
  for (const char* name : {kRequestsFile, kRoundsFile, "config.resolved.json.77.new"}) AppendText(name, "");
  EXPECT_TRUE(Open(true).ok());
}

TEST_F(RunLogTest, WhatIsRefusedIsNotCut) {
  { EXPECT_TRUE(Append(**Open(false), 1).ok()); }
  AppendText(kRequestsFile, "torn");
  const std::string before = *ReadFile(Path(kRequestsFile));
  EXPECT_FALSE(Open(false).ok());
  EXPECT_FALSE(Open(true, /*k=*/8).ok());
  EXPECT_EQ(*ReadFile(Path(kRequestsFile)), before);
}

TEST_F(RunLogTest, WrongFieldsAreDamageToo) {
  { EXPECT_TRUE(Append(**Open(false), 1).ok()); }
  AppendText(kRequestsFile, "{\"unit\": 5}\n");
  EXPECT_EQ(ReadRunRecords(directory_).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(RunLogTest, FullDiskIsOneLineAndLosesNothing) {
  std::signal(SIGXFSZ, SIG_IGN);
  auto log = Open(false);
  ASSERT_TRUE(Append(**log, 2).ok());
  struct rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  struct rlimit small = before;
  small.rlim_cur = fs::file_size(Path(kRoundsFile)) + 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = Append(**log, 3);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rounds.jsonl: cannot write: File too large"));
  log->reset();
  log = Open(true);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ((*log)->num_done(), 1);
  EXPECT_TRUE(Append(**log, 3).ok());
  EXPECT_EQ(ReadRunRecords(directory_)->requests.size(), 2u);
}

TEST(AppendFile, FullDevice) {
  auto file = AppendFile::Open("/dev/full");
  if (!file.ok()) GTEST_SKIP() << "no /dev/full here";
  const absl::Status status = file->Append("x");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "/dev/full: cannot write: No space left on device");
}

TEST(FirstDifference, NamesThePath) {
  EXPECT_EQ(FirstDifference({{"a", {1, 2}}}, {{"a", {1, 2}}}), "");
  EXPECT_EQ(FirstDifference({{"a", {1, 2}}}, {{"a", {1, 3}}}), "a.1: 2 and 3");
  EXPECT_EQ(FirstDifference({{"a", {1, 2}}}, {{"a", Json::array({1})}}), "a: 2 entries and 1 entries");
  EXPECT_EQ(FirstDifference({{"a", 1}}, {{"b", 1}}), "a: 1 and nothing");
  EXPECT_EQ(FirstDifference({{"a", 1}}, {{"a", 1}, {"b", 2}}), "b: nothing and 2");
}

}  // namespace
}  // namespace forerun
