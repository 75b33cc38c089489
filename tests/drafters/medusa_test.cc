// Medusa's heads: every published layout against plain loops, what the tensors say against what the config
// says, and the drafter's tree.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>

#include "absl/strings/str_cat.h"
#include "drafters/heads/medusa_head.h"
#include "gtest/gtest.h"
#include "tests/support/plain_heads.h"
#include "tests/support/random_heads.h"

namespace forerun {
namespace {

constexpr double kTolerance = 1e-4;
const ForwardRow kFull{.wanted = WantedOutput::kFull};

absl::StatusOr<MedusaHead> LoadFrom(const HeadFolder& folder, PlainBackbone& backbone, int vocab) {
  absl::StatusOr<HeadFiles> files = HeadFiles::Open(folder.path());
  if (!files.ok()) return files.status();
  return MedusaHead::Load(*files, backbone, vocab);
}

double Distance(const std::vector<float>& found, const PlainVector& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    largest = std::max(largest, std::abs(found[i] - expected[i]));
  return largest;
}

// The logits of head `i` for `hidden` by plain loops, from the tensors themselves.
PlainVector PlainHead(const SafetensorsFile& file, const std::vector<std::string>& blocks,
                      const std::string& output, const PlainBackbone& backbone, PlainVector x) {
  for (const std::string& block : blocks) x = PlainBlock(file, block, x);
  if (!output.empty()) return PlainProduct(file, output, x);
  PlainVector logits;
  for (std::size_t word = 0; word < backbone.head().size() / x.size(); ++word) {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * backbone.head()[word * x.size() + k];
    logits.push_back(sum);
  }
  return logits;
}

// Loads the folder, and compares the heads with blocks and output matrices of these names.
void ExpectPlain(const SafetensorsBuilder& tensors, const Json& config, int heads,
                 const std::function<std::vector<std::string>(int)>& blocks,
                 const std::function<std::string(int)>& output) {
  constexpr int kWidth = 64, kVocab = 320;
  PlainBackbone backbone(kVocab, kWidth, 4, 7);
  const HeadFolder folder(tensors, config);
  const absl::StatusOr<MedusaHead> head = LoadFrom(folder, backbone, kVocab);
  ASSERT_TRUE(head.ok()) << head.status();
  ASSERT_EQ(head->num_heads(), heads);
  const SafetensorsFile file = *SafetensorsFile::Open(folder.path() + "/model.safetensors");
  const std::vector<float> hidden = RandomFloats(3 * kWidth, 1, 3);
  for (int i = 0; i < heads; ++i) {
    const auto said = head->Outputs(i, hidden, std::vector(3, kFull));
    ASSERT_TRUE(said.ok()) << said.status();
    for (int row = 0; row < 3; ++row) {
      const PlainVector x(hidden.begin() + row * kWidth, hidden.begin() + (row + 1) * kWidth);
      EXPECT_LT(Distance((*said)[row].logits, PlainHead(file, blocks(i), output(i), backbone, x)), kTolerance)
          << "row " << row << ", head " << i;
    }
  }
}

std::string None(int) { return ""; }

TEST(MedusaHead, FirstVersionWithOutputMatricesOfItsOwn) {
  for (const SafetensorsType type : {SafetensorsType::kF32, SafetensorsType::kF16, SafetensorsType::kBF16}) {
    ExpectPlain(
        RandomMedusa({.blocks = 2, .type = type}), Json::object(), 3,
        [](int i) -> std::vector<std::string> {
          return {absl::StrCat(i, ".0.linear"), absl::StrCat(i, ".1.linear")};
        },
        [](int i) { return absl::StrCat(i, ".2.weight"); });
  }
}

TEST(MedusaHead, LegacyTrainerThroughTheTargetsOutputMatrix) {
  ExpectPlain(
      RandomMedusa({.layout = MedusaLayout::kLegacy}), {{"medusa_num_layers", 1}}, 3,
      [](int i) -> std::vector<std::string> { return {absl::StrCat(i, ".0.linear")}; }, None);
}

TEST(MedusaHead, SecondVersionAmongTheTargetsTensors) {
  ExpectPlain(
      RandomMedusa({.layout = MedusaLayout::kMedusa2}), Json::object(), 3,
      [](int i) -> std::vector<std::string> { return {absl::StrCat("medusa_head.", i, ".0.linear")}; },
      [](int i) { return absl::StrCat("medusa_head.", i, ".1.weight"); });
}

TEST(MedusaHead, VllmLayout) {
  ExpectPlain(
      RandomMedusa({.heads = 2, .blocks = 2, .layout = MedusaLayout::kVllm}), Json::object(), 2,
      [](int i) -> std::vector<std::string> {
        return {absl::StrCat("blocks.", i, ".layers.0"), absl::StrCat("blocks.", i, ".layers.1")};
      },
      [](int i) { return absl::StrCat("lm_heads.", i, ".weight"); });
}

// Published configs say 2 where there are 5 heads.
TEST(MedusaHead, TheTensorsCountTheHeadsNotTheConfig) {
  ExpectPlain(
      RandomMedusa({.heads = 5}), {{"medusa_num_heads", 2}}, 5,
      [](int i) -> std::vector<std::string> { return {absl::StrCat(i, ".0.linear")}; },
      [](int i) { return absl::StrCat(i, ".1.weight"); });
}

// The published code lists one module several times; a writer may leave the copies out.
TEST(MedusaHead, ABlockWhoseCopiesAreLeftOutIsRepeated) {
  constexpr int kWidth = 64;
  SafetensorsBuilder tensors;
  tensors.Floats("0.0.linear.weight", {kWidth, kWidth}, RandomFloats(kWidth * kWidth, 0.125, 1))
      .Floats("0.0.linear.bias", {kWidth}, RandomFloats(kWidth, 0.25, 2));
  SafetensorsBuilder with_output = tensors;
  with_output.Floats("0.3.weight", {320, kWidth}, RandomFloats(320 * kWidth, 0.125, 3));
  const auto three = [](int) -> std::vector<std::string> {
    return {"0.0.linear", "0.0.linear", "0.0.linear"};
  };
  ExpectPlain(with_output, Json::object(), 1, three, [](int) { return "0.3.weight"; });
  ExpectPlain(tensors, {{"medusa_num_layers", 3}}, 1, three, None);
}

TEST(MedusaHead, ATokenMapPlacesItsWords) {
  PlainBackbone backbone(320, 64, 4, 7);
  const HeadFolder folder(RandomMedusa({.heads = 2, .layout = MedusaLayout::kVllm, .map_stride = 4}),
                          Json::object());
  const absl::StatusOr<MedusaHead> head = LoadFrom(folder, backbone, 320);
  ASSERT_TRUE(head.ok()) << head.status();
  const std::vector<float> hidden = RandomFloats(64, 1, 3);
  const std::vector<float> logits = (*head->Outputs(0, hidden, {&kFull, 1}))[0].logits;
  const SafetensorsFile file = *SafetensorsFile::Open(folder.path() + "/model.safetensors");
  const PlainVector words =
      PlainHead(file, {"blocks.0.layers.0"}, "lm_heads.0.weight", backbone, {hidden.begin(), hidden.end()});
  ASSERT_EQ(logits.size(), 320u);
  for (int word = 0; word < 80; ++word) EXPECT_NEAR(logits[4 * word + 1], words[word], kTolerance);
  EXPECT_EQ(std::count(logits.begin(), logits.end(), -std::numeric_limits<float>::infinity()), 240);
  const ForwardRow three{.wanted = WantedOutput::kTopK, .top_k = 3};
  const RowOutput best = (*head->Outputs(0, hidden, {&three, 1}))[0];
  EXPECT_EQ(best.argmax, 4 * (std::max_element(words.begin(), words.end()) - words.begin()) + 1);
  EXPECT_EQ(best.top.size(), 3u);
}

TEST(MedusaHead, IsWhatPyTorchSays) {
  const std::string folder = FORERUN_SOURCE_DIR "/tests/golden/heads/tiny-medusa";
  const Json golden = *ReadJsonFile(folder + ".json");
  PlainBackbone backbone({}, golden["lm_head"].get<std::vector<float>>(), 16, 8);
  HeadFiles tensors = *HeadFiles::Open(folder);
  const absl::StatusOr<MedusaHead> head = MedusaHead::Load(tensors, backbone, 48);
  ASSERT_TRUE(head.ok()) << head.status();
  ASSERT_EQ(head->num_heads(), 3);
  const auto hidden = golden["hidden"].get<std::vector<float>>();
  for (int i = 0; i < 3; ++i) {
    EXPECT_LT(
        Distance((*head->Outputs(i, hidden, {&kFull, 1}))[0].logits, golden["heads"][i].get<PlainVector>()),
        1e-3)
        << "head " << i;
  }
}

// --- files that are something else ---

void ExpectRefused(const SafetensorsBuilder& tensors, const std::string& part) {
  PlainBackbone backbone(320, 64, 4, 7);
  const HeadFolder folder(tensors, Json::object());
  const absl::Status refused = LoadFrom(folder, backbone, 320).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(std::string(refused.message()).find(part), std::string::npos) << refused;
  EXPECT_EQ(std::string(refused.message()).find('\n'), std::string::npos);
}

TEST(BadMedusa, OtherShapes) {
  ExpectRefused(RandomMedusa({.width = 32}), "expected shape [64, 64], found [32, 32]");
  ExpectRefused(RandomMedusa({.vocab = 300}), "tensor '0.1.weight'");
  ExpectRefused(RandomMedusa({.vocab = 300}), "expected shape [320, 64], found [300, 64]");
}

TEST(BadMedusa, TensorsThatAreNone) {
  ExpectRefused(RandomMedusa({}).Floats("fc.weight", {1}, {1}), "only the tensors of Medusa heads");
  ExpectRefused(SafetensorsBuilder().Floats("fc.weight", {1}, {1}), "expected the tensors of Medusa heads");
  ExpectRefused(RandomMedusa({}).Integers("5.0.linear.weight", {1}), "expected tensor '3.0.linear.weight'");
}

TEST(BadMedusa, TokenMapBeyondTheVocabulary) {
  ExpectRefused(
      RandomMedusa({.layout = MedusaLayout::kVllm, .map_stride = 0}).Integers("token_map", {1, 320}),
      "token_map: word 1: expected a target id from 0 to 319, found 320");
  ExpectRefused(RandomMedusa({.layout = MedusaLayout::kVllm, .map_stride = 0}).Integers("token_map", {1, 1}),
                "found 1 a second time");
}

TEST(BadMedusa, AFolderWithAPickleAlone) {
  const TemporaryFolder folder("pickle");
  std::fclose(std::fopen((folder / "medusa_lm_head.pt").c_str(), "w"));
  const absl::Status refused = HeadFiles::Open(folder.path()).status();
  EXPECT_TRUE(absl::IsNotFound(refused));
  EXPECT_NE(std::string(refused.message()).find("medusa_lm_head.pt, which must be converted"),
            std::string::npos);
}

TEST(BadMedusa, DamageIsNotAWrongRequest) {
  const TemporaryFolder cut("cut");
  std::ofstream(cut / "model.safetensors") << "cut off";
  EXPECT_TRUE(absl::IsDataLoss(HeadFiles::Open(cut.path()).status()));
  for (const char* config : {"{", "[]"}) {
    const HeadFolder folder(RandomMedusa({}), Json::object());
    std::ofstream(folder.path() + "/config.json") << config;
    EXPECT_TRUE(absl::IsDataLoss(HeadFiles::Open(folder.path()).status())) << config;
  }
}

}  // namespace
}  // namespace forerun
