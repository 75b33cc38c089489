// Hydra's heads against PyTorch, which tokens and which state each of them reads, and files that are
// something else.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "drafters/heads/hydra_head.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"
#include "tests/support/random_heads.h"
#include "tests/support/target_features.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

const ForwardRow kFull{.wanted = WantedOutput::kFull};

double Distance(const std::vector<float>& left, const std::vector<float>& right) {
  EXPECT_EQ(left.size(), right.size());
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i)
    largest = std::max<double>(largest, std::abs(left[i] - right[i]));
  return largest;
}

// --- against PyTorch ---

class TinyHydra : public testing::Test {
 protected:
  static constexpr int kWidth = 16;
  // Of head `i`, for the golden state beside these tokens.
  std::vector<float> Logits(int i, const std::vector<int>& tokens, bool state_first = true) {
    std::vector<float> inputs;
    for (const int token : tokens) {
      inputs.insert(inputs.end(), embedding_.begin() + token * kWidth,
                    embedding_.begin() + (token + 1) * kWidth);
    }
    inputs.insert(state_first ? inputs.begin() : inputs.end(), hidden_.begin(), hidden_.end());
    const auto said = head_->Outputs(i, inputs, {&kFull, 1});
    EXPECT_TRUE(said.ok()) << said.status();
    return (*said)[0].logits;
  }
  std::vector<int> Path(int tokens) const {
    const auto path = golden_["path"].get<std::vector<int>>();
    return {path.begin(), path.begin() + tokens};
  }
  std::vector<float> Expected(int i) const { return golden_["heads"][i].get<std::vector<float>>(); }

  const std::string folder_ = FORERUN_SOURCE_DIR "/tests/golden/heads/tiny-hydra";
  const Json golden_ = *ReadJsonFile(folder_ + ".json");
  const std::vector<float> embedding_ = golden_["embedding"].get<std::vector<float>>();
  const std::vector<float> hidden_ = golden_["hidden"].get<std::vector<float>>();
  PlainBackbone backbone_{embedding_, embedding_, kWidth, 8};
  HeadFiles files_ = *HeadFiles::Open(folder_);
  absl::StatusOr<HydraHead> head_ = HydraHead::Load(files_, backbone_, 48);
};

TEST_F(TinyHydra, IsWhatPyTorchSays) {
  ASSERT_TRUE(head_.ok()) << head_.status();
  ASSERT_EQ(head_->num_heads(), 3);
  EXPECT_EQ(head_->tap(), 9);
  for (int i = 0; i < 3; ++i) EXPECT_LT(Distance(Logits(i, Path(i + 1)), Expected(i)), 1e-3) << "head " << i;
  for (int i = 0; i < 2; ++i) {
    const std::vector<float> logits = Logits(i, Path(i + 1));
    EXPECT_EQ(std::max_element(logits.begin(), logits.end()) - logits.begin(), Path(3)[i + 1]);
  }
}

TEST_F(TinyHydra, AnotherOrderOfWhatIsJoinedShows) {
  ASSERT_TRUE(head_.ok()) << head_.status();
  EXPECT_GT(Distance(Logits(0, Path(1), /*state_first=*/false), Expected(0)), 0.1);
  std::vector<int> backwards = Path(3);
  ASSERT_NE(backwards[0], backwards[2]);
  std::reverse(backwards.begin(), backwards.end());
  EXPECT_GT(Distance(Logits(2, backwards), Expected(2)), 0.1);
}

// The published code lists one module several times; a writer may leave the copies out.
TEST(HydraHead, ABlockWhoseCopiesAreLeftOutIsRepeated) {
  PlainBackbone backbone(320, 64, 4, 7);
  const auto logits = [&](const RandomHydraSpec& spec, const Json& config) {
    const HeadFolder folder(RandomHydra(spec), config);
    HeadFiles files = *HeadFiles::Open(folder.path());
    const absl::StatusOr<HydraHead> head = HydraHead::Load(files, backbone, 320);
    EXPECT_TRUE(head.ok()) << head.status();
    return (*head->Outputs(0, RandomFloats(128, 1, 3), {&kFull, 1}))[0].logits;
  };
  const RandomHydraSpec two{.heads = 1, .blocks = 2};
  const std::vector<float> once = logits(two, Json::object()), twice = logits(two, {{"hydra_num_layers", 3}});
  EXPECT_EQ(logits(two, {{"hydra_num_layers", 2}}), once);
  EXPECT_GT(Distance(once, twice), 0.1);
}

// --- on a real target ---

class HydraOnTiny : public testing::Test {
 protected:
  static constexpr int kWidth = 256;
  HydraOnTiny() : folder_(RandomHydra({.width = kWidth}), Json::object()) {}

  std::unique_ptr<Drafter> Make(const std::string& tree) {
    return MakeDrafterOrDie(
        absl::StrCat(R"({"type": "hydra", "heads": ")", folder_.path(), R"(", "tree": )", tree, "}"),
        {.target = &target_.model(), .draft = nullptr, .pool = target_.pool.get()});
  }
  TokenTree Draft(const std::string& tree) {
    const auto drafter = Make(tree);
    EXPECT_EQ(drafter->taps(), std::vector<int>{Layers() + 1});
    const Features states = States(Layers() + 1);
    return Proposing(*drafter).DraftTree(text_, {.budget = 40, .features = &states});
  }
  Features States(int tap) {
    return FeaturesOf(target_.model(), *target_.pool, std::span(text_).first(text_.size() - 1), {tap});
  }
  int Layers() { return target_.model().backbone()->layers(); }
  // The best token after the drafted `path`, from the state at `tap`.
  TokenId Best(const std::vector<TokenId>& path, int tap, std::vector<float>* logits = nullptr) {
    Backbone& backbone = *target_.model().backbone();
    HeadFiles files = *HeadFiles::Open(folder_.path());
    const HydraHead head = *HydraHead::Load(files, backbone, target_.model().vocab_size());
    const Features states = States(tap);
    const std::span<const float> last = states.Row(0, states.rows - 1);
    std::vector<float> inputs(last.begin(), last.end());
    inputs.resize(kWidth * (path.size() + 2));
    std::vector<TokenId> tokens = path;
    tokens.insert(tokens.begin(), text_.back());
    backbone.Embed(tokens, inputs.data() + kWidth);
    const auto said = *head.Outputs(static_cast<int>(path.size()), inputs, {&kFull, 1});
    if (logits != nullptr) *logits = said[0].logits;
    return static_cast<TokenId>(std::max_element(said[0].logits.begin(), said[0].logits.end()) -
                                said[0].logits.begin());
  }

  TestModel target_{TinyTargetPath(), {Numerics::kF32, KvDtype::kF32}, 1};
  const std::vector<TokenId> text_ = *target_.tokenizer().Encode("def main(argv):\n    for name in", {});
  HeadFolder folder_;
};

TEST_F(HydraOnTiny, EveryNodeFollowsFromItsOwnPath) {
  const TokenTree tree = Draft(R"({"type": "static", "widths": [3, 2, 1]})");
  ASSERT_EQ(tree.num_drafted(), 3 + 6 + 6);
  EXPECT_EQ(tree.node(1).token, Best({}, Layers() + 1));
  int differ = 0;
  for (int node = 1; node <= 9; ++node) {  // those with children
    const TokenId first = tree.node(tree.Children(node)[0]).token;
    EXPECT_EQ(first, Best(tree.PathTokens(node), Layers() + 1)) << "node " << node;
    differ += first != tree.node(tree.Children(1)[0]).token;
  }
  EXPECT_GT(differ, 0) << "a head that did not read the path would say the "
                          "same after each node of a level";
}

TEST_F(HydraOnTiny, AChainIsTheFirstPathOfATree) {
  const TokenTree chain = Draft(R"({"type": "static", "widths": [1, 1, 1]})");
  const TokenTree tree = Draft(R"({"type": "static", "widths": [3, 2, 1]})");
  ASSERT_EQ(chain.num_drafted(), 3);
  int node = 0;
  for (int i = 1; i <= 3; ++i) {
    node = tree.Children(node)[0];
    EXPECT_EQ(tree.node(node).token, chain.node(i).token);
  }
}

TEST_F(HydraOnTiny, TheStateOfAnotherLayerShows) {
  std::vector<float> right, wrong;
  Best({}, Layers() + 1, &right);
  Best({}, Layers(), &wrong);
  EXPECT_GT(Distance(right, wrong), 0.1);
}

// --- files that are something else ---

void ExpectRefused(const SafetensorsBuilder& tensors, const Json& config, const std::string& part) {
  PlainBackbone backbone(320, 64, 4, 7);
  const HeadFolder folder(tensors, config);
  HeadFiles files = *HeadFiles::Open(folder.path());
  const absl::Status refused = HydraHead::Load(files, backbone, 320).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(std::string(refused.message()).find(part), std::string::npos) << refused;
  EXPECT_EQ(std::string(refused.message()).find('\n'), std::string::npos);
}

TEST(BadHydra, OtherArchitectures) {
  for (const char* arch : {"prefix-mlp", "cross-attn", "eagle-attn"}) {
    ExpectRefused(RandomHydra({}), {{"hydra_head_arch", arch}},
                  absl::StrCat("hydra_head_arch: expected mlp, found \"", arch, "\""));
  }
  ExpectRefused(RandomHydra({}), {{"grounded_heads", false}}, "grounded_heads: expected true, found false");
  ExpectRefused(RandomHydra({}), {{"hidden_state_offset", 5}}, "a whole number from 0 to 4, found 5");
}

TEST(BadHydra, OtherTensors) {
  ExpectRefused(RandomHydra({.width = 32}), Json::object(), "expected shape [64, 128], found [32, 64]");
  ExpectRefused(RandomHydra({.vocab = 300}), Json::object(), "expected shape [320, 64], found [300, 64]");
  ExpectRefused(RandomHydra({}), {{"hydra_num_layers", 2}}, "expected tensor 'hydra_mlp.0.1.linear.weight'");
  ExpectRefused(RandomHydra({}).Floats("fc.weight", {1}, {1}), Json::object(),
                "only the tensors of Hydra heads");
  ExpectRefused(RandomMedusa({}), Json::object(), "expected the tensors of Hydra heads, found none");
}

TEST(HydraHead, CountsItsStateFromTheEnd) {
  PlainBackbone backbone(320, 64, 4, 7);
  for (const auto& [offset, tap] : {std::pair(0, 5), std::pair(1, 3), std::pair(4, 0)}) {
    const HeadFolder folder(RandomHydra({}), {{"hidden_state_offset", offset}});
    HeadFiles files = *HeadFiles::Open(folder.path());
    EXPECT_EQ(HydraHead::Load(files, backbone, 320)->tap(), tap);
  }
}

}  // namespace
}  // namespace forerun
