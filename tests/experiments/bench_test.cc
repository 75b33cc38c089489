// `forerun bench model`: its numbers are complete, its rows leave nothing behind, and it serves requests.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "experiments/model_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ModelBenchTest, TimedRowsAreDroppedAgain) {
  TestModel model(TinyDraftPath(), {}, /*threads=*/2);
  {
    ModelBench bench(model.model(), *model.pool, {.context = 20, .prefill_chunk = 8});
    const auto few = bench.TimeRows(2, 1);
    ASSERT_TRUE(few.ok()) << few.status();
    const int64_t context_blocks = model.pool->usage().blocks_in_use;
    const Model::Counters before = model.model().counters();
    const auto many = bench.TimeRows(16, 3);
    ASSERT_TRUE(many.ok()) << many.status();
    EXPECT_THAT(*many, SizeIs(3));
    EXPECT_THAT(*many, Each(Gt(0)));
    EXPECT_EQ(model.model().counters().forwards - before.forwards, 4);  // one untimed; the context is kept
    EXPECT_EQ(model.model().counters().rows - before.rows, 4 * 16);
    EXPECT_EQ(model.pool->usage().blocks_in_use, context_blocks);
  }
  EXPECT_EQ(model.pool->usage().blocks_in_use, 0);
}

TEST(ModelBenchTest, PrefillComputesEveryTokenOnce) {
  TestModel model(TinyDraftPath(), {}, /*threads=*/2);
  ModelBench bench(model.model(), *model.pool, {.prefill_chunk = 8});
  const Model::Counters before = model.model().counters();
  const auto seconds = bench.TimePrefill(20);
  ASSERT_TRUE(seconds.ok()) << seconds.status();
  EXPECT_GT(*seconds, 0);
  EXPECT_EQ(model.model().counters().rows - before.rows, 20);
  EXPECT_EQ(model.model().counters().forwards - before.forwards, 3);
}

TEST(ModelBenchTest, MoreThanTheContextIsAnError) {
  TestModel model(TinyDraftPath(), {}, /*threads=*/1);
  ModelBench bench(model.model(), *model.pool, {});
  const int length = model.model().context_length();
  EXPECT_EQ(bench.TimePrefill(length + 1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(bench.TimeRows(length, 1).status().code(), absl::StatusCode::kInvalidArgument);
}

class BenchCommandTest : public ::testing::Test {
 protected:
  Json RunJson(std::vector<std::string> arguments) {
    const ProgramResult result = RunForerun(arguments, folder_.path());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const absl::StatusOr<Json> json = ParseJson(result.out, "output");
    EXPECT_TRUE(json.ok()) << json.status();
    return json.value_or(Json());
  }
  TemporaryFolder folder_{"bench"};
};

TEST_F(BenchCommandTest, HelpAndWrongUsage) {
  EXPECT_THAT(RunForerun({"bench", "--help"}, folder_.path()).out, HasSubstr("Example:"));
  EXPECT_EQ(RunForerun({"bench"}, folder_.path()).exit_code, 2);
  EXPECT_EQ(RunForerun({"bench", "model", TinyDraftPath(), "--rows", "0"}, folder_.path()).exit_code, 2);
  EXPECT_EQ(RunForerun({"bench", "model", "missing-model"}, folder_.path()).exit_code, 3);
}

TEST_F(BenchCommandTest, JsonHoldsEveryNumber) {
  std::ofstream(folder_ / "ids.json") << "[5, 6, 7, 8, 9]";
  const std::string ids = folder_ / "ids.json";
  const Json json = RunJson({"bench", "model", TinyDraftPath(), "--rows", "1,5", "--repeat", "2", "--prefill",
                             "16", "--ids-file", ids, "--full-logits", "--json"});
  ASSERT_THAT(json["rows"], SizeIs(2));
  EXPECT_EQ(json["rows"][1]["n"], 5);
  ASSERT_THAT(json["rows"][1]["samples_ms"], SizeIs(2));
  const double a = json["rows"][1]["samples_ms"][0], b = json["rows"][1]["samples_ms"][1];
  EXPECT_EQ(json["rows"][1]["ms"], std::min(a, b));
  EXPECT_EQ(json["rows"][1]["median_ms"], (a + b) / 2);
  EXPECT_GT(json["prefill_tokens_per_second"], 0);
  EXPECT_EQ(json["output"], "full logits of every row");
  EXPECT_EQ(json["mean_nll"],
            RunJson({"score", "--model", TinyDraftPath(), "--ids-file", ids, "--json"})["mean_nll"]);
}

TEST_F(BenchCommandTest, ServesAndOutlivesWrongRequests) {
  std::ofstream(folder_ / "requests") << R"({"op": "rows", "n": 3, "repeat": 2})"
                                      << "\n"
                                      << R"({"op": "rows", "m": 3})"
                                      << "\n"
                                      << R"({"op": "nll", "ids": [5, 6, 7]})"
                                      << "\n"
                                      << R"({"op": "prefill", "tokens": 9})"
                                      << "\n";
  const std::string command = std::string(FORERUN_BINARY) + " bench model " + TinyDraftPath() +
                              " --serve < " + (folder_ / "requests") + " > " + (folder_ / "answers");
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream answers(folder_ / "answers");
  std::vector<Json> lines;
  for (std::string line; std::getline(answers, line);)
    lines.push_back(ParseJson(line, "answer").value_or(Json()));
  ASSERT_THAT(lines, SizeIs(5));
  EXPECT_EQ(lines[0]["context"], 64);
  EXPECT_THAT(lines[1]["samples_ms"], SizeIs(2));
  EXPECT_THAT(lines[2]["error"].get<std::string>(), HasSubstr("request.m: unknown key"));
  EXPECT_GT(lines[3]["mean_nll"], 0);
  EXPECT_EQ(lines[4]["prefill_tokens"], 9);
}

}  // namespace
}  // namespace forerun
