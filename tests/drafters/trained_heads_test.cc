// The heads trained for SmolLM2: what PyTorch answers with them, and that states of one layer early would
// show; then whole texts.
#include <sys/stat.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "drafters/heads/eagle_head.h"
#include "drafters/heads/medusa_head.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/target_features.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

constexpr char kModel[] = "smollm2-135m-instruct-q4_1";
constexpr char kGolden[] = FORERUN_SOURCE_DIR "/tests/golden/heads/smollm2-135m.json";
constexpr char kHeads[] = FORERUN_SOURCE_DIR "/experiments/heads/smollm2-135m-";
constexpr double kTolerance =
    0.02;  // of logits of about 10, against another order of every sum of the target

bool Exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

class TrainedHeads : public testing::Test {
 protected:
  void SetUp() override {
    if (PinnedModelPath(kModel).empty()) GTEST_SKIP() << NotFetched(kModel);
    if (!Exists(kGolden)) GTEST_SKIP() << kGolden << " is not there";
    golden_ = *ReadJsonFile(kGolden);
    ids_ = golden_["ids"].get<std::vector<TokenId>>();
    target_ =
        std::make_unique<TestModel>(PinnedModelPath(kModel), ModelOptions{Numerics::kF32, KvDtype::kF32}, 2);
  }
  Features FeaturesAt(const std::vector<int>& taps) {
    return FeaturesOf(target_->model(), *target_->pool, std::span(ids_).first(ids_.size() - 1), taps);
  }
  static double Distance(const std::vector<float>& logits, const Json& top) {
    double largest = 0;
    for (const Json& entry : top) {
      largest = std::max(largest, std::abs(logits[entry[0].get<int>()] - entry[1].get<double>()));
    }
    return largest;
  }

  Json golden_;
  std::vector<TokenId> ids_;
  std::unique_ptr<TestModel> target_;
};

TEST_F(TrainedHeads, EagleIsWhatPyTorchSays) {
  absl::StatusOr<EagleHead> head =
      EagleHead::Load(*HeadFiles::Open(absl::StrCat(kHeads, "eagle3")), *target_->model().backbone(),
                      target_->model().vocab_size(), KvDtype::kF32);
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->taps(), golden_["entering_layers"].get<std::vector<int>>());
  BlockTable table(*target_->pool, *target_->pool->RegisterLayout(head->layout()));
  const int rows = static_cast<int>(ids_.size()) - 1;
  std::vector<float> features = head->TargetFeatures(FeaturesAt(head->taps()), 0, rows);
  std::vector<TokenId> tokens(ids_.begin() + 1, ids_.end());
  for (const Json& step : golden_["eagle3"]) {
    ForwardBatch batch;
    for (const TokenId token : tokens) batch.rows.push_back({.token = token, .wanted = WantedOutput::kFull});
    ASSERT_TRUE(table.Reserve(static_cast<int>(tokens.size())).ok());
    batch.segments.push_back({&table, 0, static_cast<int32_t>(tokens.size()), true});
    const EagleHead::Result result = *head->Forward(batch, features, 1 << 12);
    table.CommitAll();
    EXPECT_LT(Distance(result.rows.back().logits, step["top"]), kTolerance);
    if (&step == &golden_["eagle3"][0]) {
      EXPECT_GT(Distance(result.rows.back().logits, golden_["off_by_one"]["top"]), 5 * kTolerance);
    }
    tokens = {step["top"][0][0].get<TokenId>()};
    features.assign(result.features.end() - head->width(), result.features.end());
  }
}

TEST_F(TrainedHeads, MedusaIsWhatPyTorchSays) {
  HeadFiles files = *HeadFiles::Open(absl::StrCat(kHeads, "medusa"));
  Backbone& backbone = *target_->model().backbone();
  const absl::StatusOr<MedusaHead> head = MedusaHead::Load(files, backbone, target_->model().vocab_size());
  ASSERT_TRUE(head.ok()) << head.status();
  ASSERT_EQ(head->num_heads(), static_cast<int>(golden_["medusa"].size()));
  const Features features = FeaturesAt({backbone.layers() + 1});
  const ForwardRow full{.wanted = WantedOutput::kFull};
  for (int i = 0; i < head->num_heads(); ++i) {
    const std::vector<RowOutput> said = *head->Outputs(i, features.Row(0, features.rows - 1), {&full, 1});
    EXPECT_LT(Distance(said[0].logits, golden_["medusa"][i]), kTolerance) << "head " << i;
  }
}

TEST_F(TrainedHeads, SlowTextIsThatOfPlainDecodingAndMuchOfItIsDrafted) {
  TestModel target(PinnedModelPath(kModel), {}, 2);
  Request request;
  request.prompt = *target.tokenizer().Encode(
      "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n",
      {.parse_special = true});
  request.verifier = &Rule("greedy");
  request.max_new_tokens = 64;
  const std::vector<TokenId> plain = Complete(target.model(), *target.pool, request).result.output;
  for (const char* options :
       {R"("eagle", "heads": "%seagle3")", R"("eagle", "heads": "%seagle3", "tree": {})",
        R"("medusa", "heads": "%smedusa")"}) {
    std::string json = absl::StrCat(R"({"type": )", options, "}");
    json.replace(json.find("%s"), 2, kHeads);
    const auto drafter =
        MakeDrafterOrDie(json, {.target = &target.model(), .draft = nullptr, .pool = target.pool.get()});
    request.drafter = drafter.get();
    request.num_speculative_tokens = drafter->chains_only() ? 4 : 16;
    const Completion completion = Complete(target.model(), *target.pool, request);
    EXPECT_EQ(completion.result.output, plain) << json;
    EXPECT_EQ(CheckRecords(request, completion), "");
    EXPECT_GT(completion.result.accepted, static_cast<int64_t>(plain.size()) / 8) << json;
  }
}

}  // namespace
}  // namespace forerun
