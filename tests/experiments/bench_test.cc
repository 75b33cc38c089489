// `forerun bench`: its numbers are complete, its rows leave nothing behind, and it serves requests.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "experiments/bench/model_bench.h"
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
    ModelBench bench(model.model(), *model.pool, {.prefill_chunk = 8});
    const auto few = bench.TimeRows(20, 2, 1);
    ASSERT_TRUE(few.ok()) << few.status();
    const int64_t context_blocks = model.pool->usage().blocks_in_use;
    const Model::Counters before = model.model().counters();
    const auto many = bench.TimeRows(20, 16, 3);
    ASSERT_TRUE(many.ok()) << many.status();
    EXPECT_THAT(*many, SizeIs(3));
    EXPECT_THAT(*many, Each(Gt(0)));
    EXPECT_EQ(model.model().counters().forwards - before.forwards, 4);  // one untimed; the context is kept
    EXPECT_EQ(model.model().counters().rows - before.rows, 4 * 16);
    EXPECT_EQ(model.pool->usage().blocks_in_use, context_blocks);
  }
  EXPECT_EQ(model.pool->usage().blocks_in_use, 0);
}

TEST(ModelBenchTest, ALongerContextContinuesAShorterOne) {
  TestModel model(TinyDraftPath(), {}, /*threads=*/2);
  ModelBench bench(model.model(), *model.pool, {.prefill_chunk = 8});
  ASSERT_TRUE(bench.Prepare(20).ok());
  const Model::Counters before = model.model().counters();
  ASSERT_TRUE(bench.Prepare(50).ok());
  EXPECT_EQ(model.model().counters().rows - before.rows, 30);
  ASSERT_TRUE(bench.Prepare(20).ok());
  EXPECT_EQ(model.model().counters().rows - before.rows, 30);
  EXPECT_TRUE(bench.TimeRows(0, 3, 1).ok());
  EXPECT_TRUE(bench.TimeRows(20, 3, 1).ok());
  EXPECT_TRUE(bench.TimeRows(50, 3, 1).ok());
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
  EXPECT_EQ(bench.TimeRows(64, length, 1).status().code(), absl::StatusCode::kInvalidArgument);
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
  EXPECT_EQ(RunForerun({"bench", "model", TinyDraftPath(), "--numerics", "a9"}, folder_.path()).exit_code, 2);
  EXPECT_EQ(RunForerun({"bench", "model", TinyDraftPath(), "--isa", "sse"}, folder_.path()).exit_code, 2);
  const ProgramResult fusion =
      RunForerun({"bench", "model", TinyDraftPath(), "--fusion", "no_qk"}, folder_.path());
  EXPECT_EQ(fusion.exit_code, 2);
  EXPECT_THAT(fusion.err, HasSubstr("nearest is no_qkv"));
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
  EXPECT_EQ(json["nll_ids"], 5);
  EXPECT_EQ(json["nll"],
            RunJson({"score", "--model", TinyDraftPath(), "--ids-file", ids, "--json"})["mean_nll"]);
}

TEST_F(BenchCommandTest, JsonSetsTimesAgainstCeilings) {
  const Json json = RunJson(
      {"bench", "model", TinyDraftPath(), "--rows", "1,4", "--repeat", "1", "--prefill", "0", "--json"});
  ASSERT_THAT(json["rows"], SizeIs(2));
  const Json& ceilings = json["ceilings"];
  for (const char* key : {"read_gb_s", "gmac_s", "fma_gmac_s"}) EXPECT_GT(ceilings[key], 0) << key;
  EXPECT_EQ(json["rows"][0]["c"], 1.0);
  for (const Json& row : json["rows"]) {
    const double ms = row["ms"], bytes = json["weight_bytes"], rows = row["n"];
    const double multiply_adds = rows * json["multiply_adds_per_row"].get<double>();
    EXPECT_DOUBLE_EQ(row["gb_s"], bytes / ms / 1e6);
    EXPECT_DOUBLE_EQ(row["gmac_s"], multiply_adds / ms / 1e6);
    EXPECT_DOUBLE_EQ(row["ceiling_share"], row["gmac_s"].get<double>() / ceilings["gmac_s"].get<double>());
    const double floor_ms = std::max(bytes / 1e6 / ceilings["read_gb_s"].get<double>(),
                                     multiply_adds / 1e6 / ceilings["gmac_s"].get<double>());
    EXPECT_NEAR(row["of_floor"], ms / floor_ms, 1e-9 * ms / floor_ms);
  }
  EXPECT_DOUBLE_EQ(json["bandwidth_share"],
                   json["rows"][0]["gb_s"].get<double>() / ceilings["read_gb_s"].get<double>());
  EXPECT_DOUBLE_EQ(json["median_bandwidth_share"], json["weight_bytes"].get<double>() /
                                                       json["rows"][0]["median_ms"].get<double>() / 1e6 /
                                                       ceilings["median_read_gb_s"].get<double>());
  EXPECT_GT(json["nll"], 0);
  EXPECT_FALSE(json.contains("prefill_tokens"));
}

TEST_F(BenchCommandTest, EverySettingIsMeasured) {
  const Json json = RunJson({"bench", "model", TinyDraftPath(), "--rows", "2", "--repeat", "3", "--prefill",
                             "8", "--numerics", "a8,f32", "--fusion", "each", "--context", "32,0", "--json"});
  const Json& settings = json["settings"];
  ASSERT_THAT(settings, SizeIs(2 * 6 * 2));
  EXPECT_EQ(settings[0]["context"], 32);
  EXPECT_EQ(settings[1]["context"], 0);
  EXPECT_EQ(settings[23]["numerics"], "f32");
  EXPECT_EQ(settings[23]["fusion"], "none");
  for (const Json& setting : settings) {
    EXPECT_THAT(setting["rows"][0]["samples_ms"], SizeIs(3));
    EXPECT_TRUE(setting["rows"][0]["c"].is_null());  // no row count of one
    EXPECT_FALSE(setting.contains("bandwidth_share"));
    const bool first_context = setting["context"] == 32;
    EXPECT_EQ(setting.contains("prefill_seconds"), first_context);
    EXPECT_EQ(setting.contains("nll"), first_context);
    if (!first_context) continue;
    const Json& same = settings[setting["numerics"] == "a8" ? 0 : 12];
    EXPECT_EQ(setting["nll"], same["nll"]) << setting["fusion"];  // fusion changes no bit
  }
  EXPECT_EQ(json["rows"], settings[0]["rows"]);
}

TEST_F(BenchCommandTest, TablesNameWhatVaries) {
  const ProgramResult result = RunForerun({"bench", "model", TinyDraftPath(), "--rows", "1,2", "--repeat",
                                           "1", "--prefill", "8", "--fusion", "all,none"},
                                          folder_.path());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("of floor"));
  EXPECT_THAT(result.out, HasSubstr("| fusion none |"));
  EXPECT_THAT(result.out, HasSubstr("mean NLL of"));
}

TEST_F(BenchCommandTest, AblationComparesFusionsOfEveryModel) {
  std::ofstream(folder_ / "ablation.json")
      << R"({"models": [")" << TinyDraftPath() << R"(", ")" << TinyTargetPath()
      << R"("], "rows": [1, 3], "prefill": 8, "repeat": 2})";
  const std::string config = folder_ / "ablation.json";
  const ProgramResult text = RunForerun({"bench", "ablation", config}, folder_.path());
  EXPECT_EQ(text.exit_code, 0) << text.err;
  for (const char* part : {"fusion all", "fusion no_attention", "ms, n=3", "prefill 8, tok/s"}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }
  const Json json = RunJson({"bench", "ablation", config, "--set", "settings=[\"all\", \"none\"]", "--json"});
  ASSERT_THAT(json, SizeIs(2));
  EXPECT_THAT(json[1]["settings"], SizeIs(2));
  const ProgramResult wrong = RunForerun({"bench", "ablation", config, "--set", "row=[1]"}, folder_.path());
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("row: unknown key; nearest is rows"));
}

TEST_F(BenchCommandTest, KernelsRunByName) {
  const Json json = RunJson(
      {"bench", "kernels", "--filter", "^(gate|matmul_a8)/(SmolLM2-135M|F16/128x512)/n/1/", "--json"});
  ASSERT_GE(json["benchmarks"].size(), 1);
  for (const Json& benchmark : json["benchmarks"]) EXPECT_GT(benchmark["us"], 0);
  EXPECT_EQ(RunForerun({"bench", "kernels", "--filter", "nothing-is-called-so"}, folder_.path()).exit_code,
            2);
}

TEST_F(BenchCommandTest, ServesAndOutlivesWrongRequests) {
  std::ofstream(folder_ / "requests") << R"({"op": "rows", "n": 3, "repeat": 2, "context": 9})"
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
