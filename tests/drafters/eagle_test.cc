// EAGLE's heads against plain loops: target rows, a chain on the head's own features, every variant of the
// layout; and the plain loops against PyTorch.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "drafters/heads/eagle_head.h"
#include "gtest/gtest.h"
#include "tests/support/plain_heads.h"
#include "tests/support/random_heads.h"

namespace forerun {
namespace {

constexpr double kTolerance = 2e-4;
constexpr int kContext = 64;

PlainVector RowOf(const std::vector<float>& rows, int row, int width) {
  return {rows.begin() + row * width, rows.begin() + (row + 1) * width};
}

double Distance(std::span<const float> found, const PlainVector& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    largest = std::max(largest, std::abs(found[i] - expected[i]));
  return largest;
}

// A head and its plain double, over random states of a target with 8 layers.
class Pair {
 public:
  Pair(const RandomEagleSpec& spec, const Json& config, const PlainEagleOptions& options)
      : spec_(spec),
        backbone_(spec.vocab, spec.eagle3 ? spec.target_width : spec.width, 8, 11),
        folder_(RandomEagle(spec), config),
        file_(*SafetensorsFile::Open(folder_.path() + "/model.safetensors")),
        plain_(file_, options) {
    absl::StatusOr<EagleHead> head =
        EagleHead::Load(*HeadFiles::Open(folder_.path()), backbone_, spec.vocab, KvDtype::kF32);
    EXPECT_TRUE(head.ok()) << head.status();
    head_ = std::make_unique<EagleHead>(*std::move(head));
    layout_id_ = *pool_->RegisterLayout(head_->layout());
    const int taps = spec.eagle3 ? 3 : 1;
    states_ = {.first_position = 0, .rows = kRows, .width = backbone_.width(), .taps = {}};
    for (int tap = 0; tap < taps; ++tap) {
      states_.taps.push_back(RandomFloats(kRows * backbone_.width(), 1, 20 + tap));
    }
  }

  // The greatest distance of logits and features over the target's rows and a chain of drafted ones.
  double Distance() {
    BlockTable table(*pool_, layout_id_);
    std::vector<float> features = head_->TargetFeatures(states_, 0, kRows);
    double largest = 0;
    for (int row = 0; row < kRows; ++row) {
      plain_features_.push_back(PlainFeature(row));
      plain_embeddings_.push_back(Embedding(kTokens[row]));
      largest =
          std::max(largest, forerun::Distance(std::span(features).subspan(row * spec_.width, spec_.width),
                                              plain_features_.back()));
    }
    std::vector<TokenId> tokens(kTokens, kTokens + kRows);
    for (int step = 0; step <= 4; ++step) {
      const EagleHead::Result result = Forward(table, tokens, features);
      const int last = static_cast<int>(tokens.size()) - 1;
      const std::vector<PlainEagle::Row> rows = plain_.Run(plain_features_, plain_embeddings_);
      for (int row = 0; row <= last; ++row) {
        const std::size_t at = rows.size() - tokens.size() + row;
        largest =
            std::max({largest, CompareLogits(result.rows[row].logits, rows[at].hidden),
                      forerun::Distance(std::span(result.features).subspan(row * spec_.width, spec_.width),
                                        rows[at].feature)});
      }
      features.assign(result.features.end() - spec_.width, result.features.end());
      tokens = {static_cast<TokenId>((17 * step + 5) % spec_.vocab)};
      plain_features_.push_back(rows.back().feature);
      plain_embeddings_.push_back(Embedding(tokens[0]));
    }
    return largest;
  }

  const EagleHead& head() const { return *head_; }

 private:
  static constexpr int kRows = 6;
  static constexpr TokenId kTokens[kRows] = {3, 77, 150, 9, 201, 30};

  EagleHead::Result Forward(BlockTable& table, const std::vector<TokenId>& tokens,
                            std::span<const float> features) {
    EXPECT_TRUE(table.Reserve(static_cast<int>(tokens.size())).ok());
    ForwardBatch batch;
    for (const TokenId token : tokens) batch.rows.push_back({.token = token, .wanted = WantedOutput::kFull});
    batch.segments.push_back({&table, 0, static_cast<int32_t>(tokens.size()), true});
    absl::StatusOr<EagleHead::Result> result = head_->Forward(batch, features, kContext);
    EXPECT_TRUE(result.ok()) << result.status();
    table.CommitAll();
    return *std::move(result);
  }

  PlainVector PlainFeature(int row) const {
    std::vector<PlainVector> states;
    for (const std::vector<float>& tap : states_.taps) states.push_back(RowOf(tap, row, states_.width));
    return spec_.eagle3 ? plain_.Feature(states) : states[0];
  }
  PlainVector Embedding(TokenId token) const {
    if (!spec_.own_embedding) return RowOf(backbone_.embedding(), token, spec_.width);
    return RowOf(*file_.Floats(*file_.FindTensor("embed_tokens.weight")), token, spec_.width);
  }
  double CompareLogits(const std::vector<float>& logits, const PlainVector& hidden) const {
    if (!spec_.eagle3) {
      double largest = 0;
      for (int word = 0; word < spec_.vocab; ++word) {
        double sum = 0;
        for (int k = 0; k < spec_.width; ++k) sum += hidden[k] * backbone_.head()[word * spec_.width + k];
        largest = std::max(largest, std::abs(sum - logits[word]));
      }
      return largest;
    }
    const PlainVector words = PlainProduct(file_, "lm_head.weight", hidden);
    double largest = 0;
    for (int word = 0; word < spec_.draft_vocab; ++word) {
      const bool all = spec_.draft_vocab == spec_.vocab;
      const int id = all ? word : word * (spec_.vocab / spec_.draft_vocab) + word % 2;
      largest = std::max(largest, std::abs(words[word] - logits[id]));
    }
    return largest;
  }

  RandomEagleSpec spec_;
  PlainBackbone backbone_;
  HeadFolder folder_;
  SafetensorsFile file_;
  PlainEagle plain_;
  std::unique_ptr<EagleHead> head_;
  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 18});
  int layout_id_ = 0;
  Features states_;
  std::vector<PlainVector> plain_features_, plain_embeddings_;
};

double DistanceOf(const RandomEagleSpec& spec, const Json& more = Json::object(),
                  PlainEagleOptions options = {}) {
  Json config = EagleConfigOf(spec);
  for (const auto& member : more.items()) config[member.key()] = member.value();
  options.eagle3 = spec.eagle3;
  options.layer = spec.eagle3 ? spec.layer : "layers.0";
  options.heads = spec.heads;
  options.kv_heads = spec.kv_heads;
  options.head_size = spec.head_size;
  return Pair(spec, config, options).Distance();
}

TEST(Eagle3Head, IsThePlainOneOnTheTargetsStatesAndOnItsOwn) {
  for (const SafetensorsType type : {SafetensorsType::kF32, SafetensorsType::kF16, SafetensorsType::kBF16}) {
    EXPECT_LT(DistanceOf({.type = type}), kTolerance);
  }
}
TEST(Eagle3Head, OneKvHeadAndHeadsWiderThanTheStream) {
  EXPECT_LT(DistanceOf({.heads = 3, .kv_heads = 1, .head_size = 32}), kTolerance);
}
TEST(Eagle3Head, AnotherWidthThanTheTargetsWithAnEmbeddingOfItsOwn) {
  EXPECT_LT(DistanceOf({.width = 48, .target_width = 64, .own_embedding = true}), kTolerance);
}
TEST(Eagle3Head, AllWordsNeedNoMap) { EXPECT_LT(DistanceOf({.draft_vocab = 320}), kTolerance); }
TEST(Eagle3Head, NormsOfTheStates) {
  EXPECT_LT(DistanceOf({.state_norms = true}), kTolerance);
  EXPECT_LT(DistanceOf({.joined_norm = true}), kTolerance);
}
TEST(Eagle3Head, SpeculatorsNameTheLayerOtherwise) {
  EXPECT_LT(DistanceOf({.layer = "layers.0"}), kTolerance);
}

// A missing rope_theta is 10000, whatever the target has; another one shows.
TEST(Eagle3Head, RopeThetaIsTheHeadsOwnAndHasADefault) {
  EXPECT_LT(DistanceOf({}, {}, {.rope_base = 10000}), kTolerance);
  EXPECT_LT(DistanceOf({}, {{"rope_theta", 500000}}, {.rope_base = 500000}), kTolerance);
  EXPECT_LT(DistanceOf({}, {{"rope_parameters", {{"rope_theta", 500000}}}}, {.rope_base = 500000}),
            kTolerance);
  EXPECT_GT(DistanceOf({}, {}, {.rope_base = 500000}), 100 * kTolerance);
}

TEST(Eagle3Head, TheResidualMayBeTheNormedFeature) {
  EXPECT_LT(DistanceOf({}, {{"norm_before_residual", true}}, {.norm_before_residual = true}), kTolerance);
  EXPECT_GT(DistanceOf({}, {}, {.norm_before_residual = true}), 100 * kTolerance);
}

// One name, two meanings.
TEST(Eagle3Head, NormOutputMeansWhatTheWriterMeans) {
  EXPECT_LT(DistanceOf({}, {{"norm_output", false}}, {.norm_before_head = false}), kTolerance);
  EXPECT_LT(DistanceOf({}, {{"norm_output", true}}), kTolerance);
  const RandomEagleSpec spec{.layer = "layers.0"};
  Json speculators = {{"speculators_model_type", "eagle3"},
                      {"transformer_layer_config", EagleConfigOf(spec)},
                      {"draft_vocab_size", spec.draft_vocab}};
  EXPECT_LT(DistanceOf(spec, speculators), kTolerance);
  speculators["norm_output"] = true;
  EXPECT_LT(DistanceOf(spec, speculators, {.feed_back_normed = true}), kTolerance);
  EXPECT_GT(DistanceOf(spec, speculators), 100 * kTolerance);
}

TEST(Eagle1Head, IsThePlainOneOnTheTargetsStatesAndOnItsOwn) {
  EXPECT_LT(DistanceOf({.eagle3 = false}), kTolerance);
  EXPECT_LT(DistanceOf({.eagle3 = false, .fc_bias = true, .type = SafetensorsType::kF16}), kTolerance);
  EXPECT_LT(DistanceOf({.eagle3 = false, .own_embedding = true}), kTolerance);
}

TEST(EagleHead, ReadsTheStatesThatItsKindIsTrainedOn) {
  const RandomEagleSpec third{}, first{.eagle3 = false};
  EXPECT_EQ(Pair(third, EagleConfigOf(third), {}).head().taps(), (std::vector<int>{2, 4, 5}));
  EXPECT_EQ(Pair(first, EagleConfigOf(first), {}).head().taps(), (std::vector<int>{9}));
}

// --- the plain loops against PyTorch ---

std::vector<PlainVector> Rows(const Json& flat, int width) {
  const auto values = flat.get<std::vector<double>>();
  std::vector<PlainVector> rows;
  for (std::size_t at = 0; at < values.size(); at += width) {
    rows.emplace_back(values.begin() + at, values.begin() + at + width);
  }
  return rows;
}

#define GOLDEN_HEADS FORERUN_SOURCE_DIR "/tests/golden/heads/"

TEST(PlainHeads, AreWhatPyTorchSays) {
  const Json golden = *ReadJsonFile(GOLDEN_HEADS "tiny-eagle3.json");
  const SafetensorsFile file = *SafetensorsFile::Open(GOLDEN_HEADS "tiny-eagle3/model.safetensors");
  const PlainEagle plain(file, {.heads = 2, .kv_heads = 1, .head_size = 8, .rope_base = 100000});
  const std::vector<PlainVector> embedding = Rows(golden["embedding"], 16);
  const auto ids = golden["ids"].get<std::vector<int>>();
  const auto words = golden["words"].get<std::vector<int>>();
  std::vector<std::vector<PlainVector>> taps;
  for (const Json& tap : golden["taps"]) taps.push_back(Rows(tap, 16));
  std::vector<PlainVector> features, embeddings;
  for (std::size_t row = 0; row + 1 < ids.size(); ++row) {
    features.push_back(plain.Feature({taps[0][row], taps[1][row], taps[2][row]}));
    embeddings.push_back(embedding[ids[row + 1]]);
  }
  for (const Json& step : golden["steps"]) {
    const PlainEagle::Row last = plain.Run(features, embeddings).back();
    const PlainVector logits = PlainProduct(file, "lm_head.weight", last.hidden);
    const auto expected = step["logits"].get<std::vector<double>>();
    const auto feature = step["feature"].get<std::vector<double>>();
    ASSERT_EQ(logits.size(), expected.size());
    for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], expected[i], 1e-4);
    for (std::size_t i = 0; i < feature.size(); ++i) EXPECT_NEAR(last.feature[i], feature[i], 1e-4);
    features.push_back(last.feature);
    embeddings.push_back(embedding[words[std::max_element(logits.begin(), logits.end()) - logits.begin()]]);
  }
}

}  // namespace
}  // namespace forerun
