// DFlash's block against PyTorch, the drafter on a real target, and files that are something else.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "drafters/heads/dflash_head.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"
#include "tests/support/random_heads.h"
#include "tests/support/target_features.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

double Distance(const std::vector<float>& found, const std::vector<float>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max<double>(largest, std::abs(found[i] - expected[i]));
  }
  return largest;
}

// The logits of all rows of a block but the first, behind states that arrive in parts.
std::vector<float> BlockLogits(DflashHead& head, KvPool& pool, const Features& states, TokenId root,
                               int part) {
  BlockTable table(pool, *pool.RegisterLayout(head.layout()));
  for (int first = 0; first < states.rows; first += part) {
    const int rows = std::min(part, states.rows - first);
    EXPECT_TRUE(table.Reserve(rows).ok());
    ForwardBatch batch;
    batch.rows.resize(rows);
    batch.segments.push_back({&table, 0, rows, true});
    EXPECT_TRUE(head.Remember(batch, JoinStates(states, first, rows), 64).ok());
    table.CommitAll();
  }
  EXPECT_TRUE(table.Reserve(head.block_size()).ok());
  ForwardBatch batch;
  for (int row = 0; row < head.block_size(); ++row) {
    batch.rows.push_back(
        {.token = row == 0 ? root : head.mask_token(), .parent = row - 1, .wanted = WantedOutput::kFull});
  }
  batch.segments.push_back({&table, 0, head.block_size(), false});
  const auto said = head.Guess(batch, 64);
  EXPECT_TRUE(said.ok()) << said.status();
  std::vector<float> logits;
  for (int row = 1; row < head.block_size(); ++row) {
    logits.insert(logits.end(), (*said)[row].logits.begin(), (*said)[row].logits.end());
  }
  return logits;
}

TEST(DflashHead, IsWhatPyTorchSays) {
  const std::string folder = FORERUN_SOURCE_DIR "/tests/golden/heads/tiny-dflash";
  const Json golden = *ReadJsonFile(folder + ".json");
  const auto floats = [&](const char* key) { return golden[key].get<std::vector<float>>(); };
  PlainBackbone backbone(floats("embedding"), floats("lm_head"), 32, 8);
  HeadFiles files = *HeadFiles::Open(folder);
  const auto head = DflashHead::Load(files, backbone, 48, KvDtype::kF32);
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ((*head)->taps(), (std::vector<int>{2, 4, 7})) << "ids name what leaves a layer";
  EXPECT_EQ((*head)->block_size(), 5);
  EXPECT_EQ((*head)->mask_token(), 47);
  Features states{.first_position = 0, .rows = 6, .width = 32, .taps = {}};
  for (const Json& tap : golden["states"]) states.taps.push_back(tap.get<std::vector<float>>());
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 18});
  const std::vector<float> logits = BlockLogits(**head, *pool, states, golden["root"], 6);
  EXPECT_LT(Distance(logits, floats("logits")), 1e-3);
  EXPECT_GT(Distance(logits, floats("causal")), 0.1) << "a row that sees only what is before it";
  EXPECT_GT(Distance(logits, floats("taps_in_another_order")), 0.1);
  EXPECT_EQ(BlockLogits(**head, *pool, states, golden["root"], 2), logits) << "to the bit";
}

// --- on a real target ---

class DflashOnTiny : public testing::Test {
 protected:
  DflashOnTiny() : folder_(RandomDflash(spec_), DflashConfigOf(spec_)), drafter_(Make("")) {}

  std::unique_ptr<Drafter> Make(const std::string& more) {
    return MakeDrafterOrDie(absl::StrCat(R"({"type": "dflash", "heads": ")", folder_.path(), "\"", more, "}"),
                            {.target = &target_.model(), .draft = nullptr, .pool = target_.pool.get()});
  }
  Features States(int first, int end, int shift = 0) {
    std::vector<int> taps = drafter_->taps();
    for (int& tap : taps) tap += shift;
    return FeaturesOf(target_.model(), *target_.pool, std::span(text_).first(end), taps, first);
  }
  std::vector<TokenId> Draft(Proposing& sequence, int size, int budget, const Features* states) {
    const TokenTree tree = sequence.DraftTree(std::vector(text_.begin(), text_.begin() + size),
                                              {.budget = budget, .features = states});
    return tree.PathTokens(tree.size() - 1);
  }
  std::vector<TokenId> DraftAtOnce(Drafter& drafter, int size, int budget) {
    const Features states = States(0, size - 1);
    Proposing sequence(drafter);
    return Draft(sequence, size, budget, &states);
  }
  std::vector<float> Logits(int size, int shift) {
    HeadFiles files = *HeadFiles::Open(folder_.path());
    const auto head = *DflashHead::Load(files, *target_.model().backbone(), kVocab, KvDtype::kF32);
    return BlockLogits(*head, *target_.pool, States(0, size - 1, shift), text_[size - 1], size);
  }

  static constexpr int kVocab = 4096;
  const RandomLayersSpec spec_{.width = 256, .head_size = 32};
  TestModel target_{TinyTargetPath(), {Numerics::kF32, KvDtype::kF32}, 1};
  const std::vector<TokenId> text_ =
      *target_.tokenizer().Encode("def main(argv):\n    for name in argv:\n        print(name)\n", {});
  HeadFolder folder_;
  std::unique_ptr<Drafter> drafter_;
};

TEST_F(DflashOnTiny, DraftsTheBestOfEveryRowOfOneBlock) {
  const std::vector<float> logits = Logits(11, 0);
  std::vector<TokenId> best;
  for (int row = 0; row < 4; ++row) {
    const auto first = logits.begin() + row * kVocab;
    best.push_back(static_cast<TokenId>(std::max_element(first, first + kVocab) - first));
  }
  EXPECT_EQ(DraftAtOnce(*drafter_, 11, 9), best) << "no longer than the block";
  EXPECT_EQ(DraftAtOnce(*drafter_, 11, 2), std::vector(best.begin(), best.begin() + 2));
  EXPECT_TRUE(DraftAtOnce(*Make(R"(, "min_confidence": 0.999)"), 11, 4).empty());
  EXPECT_EQ(drafter_->taps(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(drafter_->note(), "blocks of 5, taps 1 2 3, not run on published weights");
}

TEST_F(DflashOnTiny, StatesOfTheNextLayersShow) { EXPECT_GT(Distance(Logits(11, 0), Logits(11, 1)), 0.1); }

TEST_F(DflashOnTiny, HowTheStatesArriveChangesNothing) {
  const std::vector<TokenId> expected = DraftAtOnce(*drafter_, 13, 4);
  Proposing sequence(*drafter_);
  const Features prefix = States(0, 4), more = States(4, 9), rest = States(9, 12), again = States(3, 12);
  EXPECT_TRUE(Draft(sequence, 6, 0, &prefix).empty());
  EXPECT_EQ(Draft(sequence, 10, 4, &more).size(), 4u);
  EXPECT_EQ(Draft(sequence, 13, 4, &rest), expected);
  EXPECT_EQ(Draft(sequence, 13, 4, &again), expected);
}

TEST_F(DflashOnTiny, IsSilentWhereStatesAreMissing) {
  Proposing sequence(*drafter_);
  const Features gap = States(2, 6), few = States(0, 4);
  EXPECT_TRUE(Draft(sequence, 5, 4, nullptr).empty());
  EXPECT_TRUE(Draft(sequence, 7, 4, &gap).empty());
  EXPECT_TRUE(Draft(sequence, 7, 4, &few).empty());
}

// --- files that are something else ---

void ExpectRefused(const SafetensorsBuilder& tensors, const Json& more, const std::string& part) {
  PlainBackbone backbone(320, 64, 4, 7);
  Json config = DflashConfigOf({});
  config.merge_patch(more);
  const HeadFolder folder(tensors, config);
  HeadFiles files = *HeadFiles::Open(folder.path());
  const absl::Status refused = DflashHead::Load(files, backbone, 320, KvDtype::kF32).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(std::string(refused.message()).find(part), std::string::npos) << refused;
  EXPECT_EQ(std::string(refused.message()).find('\n'), std::string::npos);
}

TEST(BadDflash, ConfigsThatMeanSomethingElse) {
  const auto own = [](const char* key, const Json& value) { return Json{{"dflash_config", {{key, value}}}}; };
  ExpectRefused(RandomDflash({}), {{"layer_types", {"full_attention", "sliding_attention"}}},
                "layer_types: expected full_attention alone");
  ExpectRefused(RandomDflash({}), {{"num_target_layers", 36}}, "num_target_layers: expected 4, found 36");
  ExpectRefused(RandomDflash({}), {{"hidden_size", 32}}, "hidden_size: expected the target's 64, found 32");
  ExpectRefused(RandomDflash({}), {{"block_size", nullptr}},
                "dflash_config.block_size: expected a whole number");
  ExpectRefused(RandomDflash({}), own("mask_token_id", 320),
                "mask_token_id: expected a whole number from 0 to 319");
  ExpectRefused(RandomDflash({}), own("target_layer_ids", {0, 1, 3}),
                "target_layer_ids: expected layers from 0 to 2");
  ExpectRefused(RandomDflash({}), own("fc_layernorm", true), "fc_layernorm: expected false, found true");
}

TEST(BadDflash, OtherTensors) {
  ExpectRefused(RandomDflash({.layers = 1}), Json::object(),
                "expected tensor 'layers.1.self_attn.q_proj.weight'");
  ExpectRefused(RandomDflash({.layers = 3}), Json::object(), "only the tensors of a DFlash drafter");
  ExpectRefused(RandomDflash({}).Floats("markov_head.markov_w1", {1}, {1}), Json::object(),
                "only the tensors of a DFlash drafter");
  ExpectRefused(RandomDflash({.layer_ids = {0, 1}}), Json::object(),
                "expected shape [64, 192], found [64, 128]");
}

}  // namespace
}  // namespace forerun
