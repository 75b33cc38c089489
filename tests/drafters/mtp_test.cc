// The multi-token-prediction layer against PyTorch, the drafter that goes on with it, and folders that hold
// something else.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "drafters/heads/mtp_head.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"
#include "tests/support/random_heads.h"
#include "tests/support/target_features.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

double Distance(std::span<const float> found, const std::vector<float>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max<double>(largest, std::abs(found[i] - expected[i]));
  }
  return largest;
}

// One forward of rows that follow what the table holds, which stay there.
RecurrentHead::Result ReadOn(MtpHead& head, BlockTable& table, std::span<const TokenId> tokens,
                             std::span<const float> features) {
  EXPECT_TRUE(table.Reserve(static_cast<int>(tokens.size())).ok());
  ForwardBatch batch;
  for (const TokenId token : tokens) batch.rows.push_back({.token = token, .wanted = WantedOutput::kFull});
  batch.segments.push_back({&table, 0, static_cast<int32_t>(tokens.size()), true});
  absl::StatusOr<RecurrentHead::Result> result = head.Forward(batch, features, 64);
  EXPECT_TRUE(result.ok()) << result.status();
  table.CommitAll();
  return *std::move(result);
}

TEST(MtpHead, IsWhatPyTorchSays) {
  const std::string folder = FORERUN_SOURCE_DIR "/tests/golden/heads/tiny-mtp";
  const Json golden = *ReadJsonFile(folder + ".json");
  const auto floats = [&](const char* key) { return golden[key].get<std::vector<float>>(); };
  PlainBackbone backbone(floats("embedding"), floats("lm_head"), 32, 8);
  HeadFiles files = *HeadFiles::Open(folder);
  const auto head = MtpHead::Load(files, backbone, 48, KvDtype::kF32);
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ((*head)->taps(), std::vector<int>{9});
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 18});
  BlockTable table(*pool, *pool->RegisterLayout((*head)->layout()));
  const auto ids = golden["ids"].get<std::vector<TokenId>>();
  std::vector<TokenId> tokens(ids.begin() + 1, ids.end());
  std::vector<float> features = floats("states");
  for (const Json& step : golden["steps"]) {
    const RecurrentHead::Result result = ReadOn(**head, table, tokens, features);
    const RowOutput& last = result.rows.back();
    features.assign(result.features.end() - 32, result.features.end());
    EXPECT_LT(Distance(last.logits, step["logits"].get<std::vector<float>>()), 1e-3);
    EXPECT_LT(Distance(features, step["feature"].get<std::vector<float>>()), 1e-3);
    if (tokens.size() > 1) {  // mistakes show
      EXPECT_GT(Distance(last.logits, floats("states_first")), 0.1);
      EXPECT_GT(Distance(last.logits, floats("no_gate")), 0.1);
    }
    tokens = {
        static_cast<TokenId>(std::max_element(last.logits.begin(), last.logits.end()) - last.logits.begin())};
  }
}

// --- on a real target ---

class MtpOnTiny : public testing::Test {
 protected:
  static constexpr int kWidth = 256;
  MtpOnTiny() : folder_(RandomMtp(spec_), MtpConfigOf(spec_)) {}

  TokenTree Draft(const std::string& more) {
    const auto drafter =
        MakeDrafterOrDie(absl::StrCat(R"({"type": "mtp", "heads": ")", folder_.path(), "\"", more, "}"),
                         {.target = &target_.model(), .draft = nullptr, .pool = target_.pool.get()});
    EXPECT_EQ(drafter->note(), "not run on published weights");
    const Features states = States(0);
    return Proposing(*drafter).DraftTree(text_, {.budget = 4, .features = &states});
  }
  Features States(int shift) {
    const int tap = target_.model().backbone()->layers() + 1 + shift;
    return FeaturesOf(target_.model(), *target_.pool, std::span(text_).first(text_.size() - 1), {tap});
  }
  // A greedy chain, and the logits of its first token, from states `shift` layers later.
  std::vector<TokenId> Chain(int shift, std::vector<float>* first) {
    HeadFiles files = *HeadFiles::Open(folder_.path());
    const auto head =
        *MtpHead::Load(files, *target_.model().backbone(), target_.model().vocab_size(), KvDtype::kF32);
    BlockTable table(*target_.pool, *target_.pool->RegisterLayout(head->layout()));
    std::vector<TokenId> tokens(text_.begin() + 1, text_.end()), chain;
    std::vector<float> features = head->TargetFeatures(States(shift), 0, static_cast<int>(tokens.size()));
    for (int i = 0; i < 4; ++i) {
      const RecurrentHead::Result result = ReadOn(*head, table, tokens, features);
      const std::vector<float>& logits = result.rows.back().logits;
      if (i == 0) *first = logits;
      chain.push_back(static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
      features.assign(result.features.end() - kWidth, result.features.end());
      tokens = {chain.back()};
    }
    return chain;
  }

  const RandomLayersSpec spec_{.width = kWidth, .head_size = 32};
  TestModel target_{TinyTargetPath(), {Numerics::kF32, KvDtype::kF32}, 1};
  const std::vector<TokenId> text_ = *target_.tokenizer().Encode("def main(argv):\n    for name in", {});
  HeadFolder folder_;
};

TEST_F(MtpOnTiny, GoesOnWithItsOwnFeatures) {
  std::vector<float> right, wrong;
  const std::vector<TokenId> chain = Chain(0, &right);
  EXPECT_EQ(Draft("").PathTokens(4), chain);
  Chain(-1, &wrong);
  EXPECT_GT(Distance(right, wrong), 0.1) << "the state before the final norm shows";
  const TokenTree tree = Draft(R"(, "tree": {"type": "static", "widths": [2, 1]})");
  EXPECT_EQ(tree.num_drafted(), 4);
  EXPECT_EQ(tree.PathTokens(tree.Children(1)[0]), std::vector(chain.begin(), chain.begin() + 2));
}

// --- folders that hold something else ---

void ExpectRefused(const SafetensorsBuilder& tensors, const Json& more, const std::string& part) {
  PlainBackbone backbone(320, 64, 4, 7);
  Json config = MtpConfigOf({});
  config.update(more);
  const HeadFolder folder(tensors, config);
  HeadFiles files = *HeadFiles::Open(folder.path());
  const absl::Status refused = MtpHead::Load(files, backbone, 320, KvDtype::kF32).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(std::string(refused.message()).find(part), std::string::npos) << refused;
  EXPECT_EQ(std::string(refused.message()).find('\n'), std::string::npos);
}

TEST(BadMtp, OtherFamiliesAndKinds) {
  ExpectRefused(RandomMtp({}), {{"model_type", "deepseek_v3"}},
                "model_type: expected qwen3_next, qwen3_5 or qwen3_5_text, found \"deepseek_v3\"");
  ExpectRefused(RandomMtp({}), {{"mtp_num_hidden_layers", 2}}, "mtp_num_hidden_layers: expected 1, found 2");
  ExpectRefused(RandomMtp({}), {{"mtp_use_dedicated_embeddings", true}}, "expected false, found true");
  ExpectRefused(RandomMtp({}), {{"partial_rotary_factor", 1.5}}, "expected an even part of head_dim");
  ExpectRefused(RandomMtp({}), {{"hidden_size", 32}}, "hidden_size: expected the target's 64, found 32");
  ExpectRefused(
      RandomMtp({}).Floats("mtp.layers.0.mlp.experts.0.up_proj.weight", {1}, {1}), Json::object(),
      "expected a dense layer, found tensor 'mtp.layers.0.mlp.experts.0.up_proj.weight' of a mixture");
}

TEST(BadMtp, OtherTensors) {
  ExpectRefused(RandomMtp({}).Floats("mtp.layers.1.mlp.up_proj.weight", {1}, {1}), Json::object(),
                "only the tensors of one multi-token-prediction layer");
  ExpectRefused(RandomMtp({.gated = false}), Json::object(), "expected shape [128, 64], found [64, 64]");
  ExpectRefused(RandomMtp({}), {{"attn_output_gate", false}}, "expected shape [64, 64], found [128, 64]");
  ExpectRefused(RandomMedusa({}), Json::object(), "expected tensor 'mtp.fc.weight'");
}

TEST(MtpHead, FindsItsShapeInTheTextConfig) {
  PlainBackbone backbone(320, 64, 4, 7);
  Json inner = MtpConfigOf({});
  inner["model_type"] = "qwen3_5_text";
  inner["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 1e7}, {"partial_rotary_factor", 0.5}};
  const HeadFolder folder(RandomMtp({}), {{"model_type", "qwen3_5"}, {"text_config", inner}});
  HeadFiles files = *HeadFiles::Open(folder.path());
  EXPECT_TRUE(MtpHead::Load(files, backbone, 320, KvDtype::kF32).ok());
}

}  // namespace
}  // namespace forerun
