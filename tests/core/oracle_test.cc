// Whole models against answers that PyTorch gave for the same files: `--exact` closely, a8 within its
// allowance.
#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "tests/support/scoring.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

constexpr ModelOptions kExact{Numerics::kF32, KvDtype::kF32};
constexpr ModelOptions kDefault{Numerics::kA8, KvDtype::kF16};

std::vector<TokenId> Ids(const Json& ids) { return ids.get<std::vector<TokenId>>(); }

// The best token after each position of ids + continuation that the oracle chose from, teacher-forced.
void ExpectGreedyChoices(TestModel& test, const std::vector<TokenId>& ids, const std::vector<TokenId>& greedy,
                         const std::vector<double>& margins, double least_margin) {
  std::vector<TokenId> all = ids;
  all.insert(all.end(), greedy.begin(), greedy.end());
  BlockTable table(*test.pool, test.model().kv_layout_id());
  const std::vector<RowOutput> outputs = Feed(test.model(), table, all, 512, WantedOutput::kArgmax);
  for (std::size_t i = 0; i < greedy.size(); ++i) {
    if (margins[i] <= least_margin) continue;
    EXPECT_EQ(outputs[ids.size() - 1 + i].argmax, greedy[i])
        << "continuation token " << i << ", margin " << margins[i];
  }
}

void ExpectTopLogits(TestModel& test, const Json& oracle_case) {
  BlockTable table(*test.pool, test.model().kv_layout_id());
  const std::vector<TokenId> ids = Ids(oracle_case["ids"]);
  const std::vector<RowOutput> outputs = Feed(test.model(), table, ids, 512, WantedOutput::kFull);
  for (const Json& top : oracle_case["last_top20"]) {
    const TokenId token = top[0].get<TokenId>();
    EXPECT_NEAR(outputs.back().logits[token], top[1].get<double>(), 2e-3) << "token " << token;
  }
}

class TinyOracle : public testing::TestWithParam<const char*> {
 protected:
  std::string Path() const {
    return std::string(GetParam()) == "tiny-python-target-f16" ? TinyTargetPath() : TinyDraftPath();
  }
};

TEST_P(TinyOracle, ExactNllOfEveryChunk) {
  TestModel test(Path(), kExact, 2);
  const Json oracle = ReadOracle(GetParam());
  for (const Json& chunk : oracle["cases"]) {
    EXPECT_NEAR(MeanNll(test.model(), *test.pool, Ids(chunk["ids"])), chunk["mean_nll"].get<double>(), 1e-3);
  }
}

TEST_P(TinyOracle, GreedyContinuationTokenForToken) {
  const Json oracle = ReadOracle(GetParam());
  const Json& greedy = oracle["greedy"];
  TestModel test(Path(), kExact, 2);
  const std::vector<TokenId> tokens = Ids(greedy["tokens"]);
  ExpectGreedyChoices(test, Ids(greedy["prompt"]), tokens, std::vector<double>(tokens.size(), 1.0), 0);
}

// F16 weights are multiplied in float under a8 too, so only the f16 KV differs from --exact.
TEST_P(TinyOracle, DefaultNumericsPooledNll) {
  TestModel test(Path(), kDefault, 2);
  double difference = 0;
  int chunks = 0;
  const Json oracle = ReadOracle(GetParam());
  for (const Json& chunk : oracle["cases"]) {
    difference += MeanNll(test.model(), *test.pool, Ids(chunk["ids"])) - chunk["mean_nll"].get<double>();
    ++chunks;
  }
  EXPECT_LT(std::abs(difference / chunks), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Models, TinyOracle,
                         testing::Values("tiny-python-target-f16", "tiny-python-draft-f16"),
                         [](const auto& info) { return std::string(info.index == 0 ? "target" : "draft"); });

class PinnedOracle : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (PinnedModelPath(GetParam()).empty()) GTEST_SKIP() << NotFetched(GetParam());
  }
  bool large() const { return GetParam().find("1.5b") != std::string::npos; }
};

TEST_P(PinnedOracle, SlowExactOnShortTexts) {
  TestModel test(PinnedModelPath(GetParam()), kExact, 2);
  const Json oracle = ReadOracle(GetParam());
  double most = 0;
  for (const Json& text : oracle["cases"]) {
    SCOPED_TRACE(text["id"].get<std::string>());
    const std::vector<TokenId> ids = Ids(text["ids"]);
    ExpectTopLogits(test, text);
    ExpectGreedyChoices(test, ids, Ids(text["greedy"]), text["greedy_margin"].get<std::vector<double>>(),
                        0.01);
    if (ids.size() > 1) {
      const double difference = MeanNll(test.model(), *test.pool, ids) - text["mean_nll"].get<double>();
      EXPECT_LT(std::abs(difference), 1e-3);
      most = std::max(most, std::abs(difference));
    }
  }
  RecordProperty("worst_mean_nll_difference", std::to_string(most));
}

TEST_P(PinnedOracle, SlowDefaultOnLongChunks) {
  TestModel test(PinnedModelPath(GetParam()), kDefault, 2);
  double sum = 0;
  int chunks = 0;
  const Json oracle = ReadOracle("long_" + GetParam());
  for (const Json& chunk : oracle["cases"]) {
    const double difference =
        MeanNll(test.model(), *test.pool, Ids(chunk["ids"])) - chunk["mean_nll"].get<double>();
    if (chunk["id"] == "window1536") {
      std::printf("%s window1536 %+.4f\n", GetParam().c_str(), difference);
      EXPECT_LT(std::abs(difference), 0.01);
    } else {
      sum += difference;
      ++chunks;
    }
  }
  std::printf("%s pooled over %d chunks %+.4f\n", GetParam().c_str(), chunks, sum / chunks);
  EXPECT_LT(sum / chunks, 0.006);
}

// Short raw texts are erratic on the 1.5B file under any rounding: see the notes on activation quantisation.
TEST_P(PinnedOracle, SlowDefaultChoosesTheBestTokenOfShortTexts) {
  if (large())
    GTEST_SKIP() << "the first tokens' massive activations make single short texts of this file erratic";
  TestModel test(PinnedModelPath(GetParam()), kDefault, 2);
  const Json oracle = ReadOracle(GetParam());
  for (const Json& text : oracle["cases"]) {
    SCOPED_TRACE(text["id"].get<std::string>());
    ExpectGreedyChoices(test, Ids(text["ids"]), Ids(text["greedy"]),
                        text["greedy_margin"].get<std::vector<double>>(), 1.0);
  }
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Models, PinnedOracle, testing::ValuesIn(PinnedModels()), TestName);

}  // namespace
}  // namespace forerun
