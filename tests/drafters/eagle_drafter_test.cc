// The EAGLE drafter on a real target: the chain that plain loops draft from the target's states, however
// those arrive; silence where some are missing; and the states of another layer show.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "drafters/heads/eagle_head.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/plain_heads.h"
#include "tests/support/proposing.h"
#include "tests/support/random_heads.h"
#include "tests/support/target_features.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

constexpr int kVocab = 4096, kWidth = 256;

RandomEagleSpec SpecOf(bool eagle3) {
  return {.eagle3 = eagle3,
          .width = kWidth,
          .target_width = kWidth,
          .ffn_width = 128,
          .head_size = 32,
          .vocab = kVocab,
          .draft_vocab = 512};
}

class EagleOnTiny : public testing::TestWithParam<bool> {
 protected:
  EagleOnTiny()
      : folder_(RandomEagle(SpecOf(GetParam())), EagleConfigOf(SpecOf(GetParam()))),
        drafter_(Make(folder_)) {}

  std::unique_ptr<Drafter> Make(const HeadFolder& folder, const std::string& more = "") {
    return MakeDrafterOrDie(absl::StrCat(R"({"type": "eagle", "heads": ")", folder.path(), "\"", more, "}"),
                            {.target = &target_.model(), .draft = nullptr, .pool = target_.pool.get()});
  }
  Features FeaturesFrom(int first, int end, const std::vector<int>& taps) {
    return FeaturesOf(target_.model(), *target_.pool, std::span(text_).first(end), taps, first);
  }
  // What is drafted after the first `size` tokens of the text.
  std::vector<TokenId> Draft(Drafter& drafter, DrafterState& state, int size, int budget,
                             const Features* features) {
    TokenTree tree(text_[size - 1]);
    const Sampling sampling;
    DraftTask task{.state = &state,
                   .committed = std::span(text_).first(size),
                   .prompt_length = 1,
                   .sampling = &sampling,
                   .request = 3,
                   .budget = budget,
                   .max_depth = budget,
                   .features = features,
                   .tree = &tree,
                   .status = absl::OkStatus()};
    EXPECT_TRUE(drafter.Propose({&task, 1}).ok());
    EXPECT_TRUE(task.status.ok()) << task.status;
    return tree.PathTokens(tree.size() - 1);
  }
  std::vector<TokenId> DraftAtOnce(Drafter& drafter, int size, int budget) {
    const Features features = FeaturesFrom(0, size - 1, drafter.taps());
    return Draft(drafter, **drafter.Open(), size, budget, &features);
  }

  // The same by plain loops.
  std::vector<TokenId> PlainDraft(int size, int budget) {
    const SafetensorsFile file = *SafetensorsFile::Open(folder_.path() + "/model.safetensors");
    const PlainEagle plain(file, PlainOptions());
    std::vector<PlainVector> features, embeddings;
    PlainInputs(plain, size, 0, features, embeddings);
    std::vector<TokenId> drafted;
    for (int i = 0; i < budget; ++i) {
      const PlainEagle::Row last = plain.Run(features, embeddings).back();
      drafted.push_back(Best(file, last.hidden));
      features.push_back(last.feature);
      embeddings.push_back(Embedding(drafted.back()));
    }
    return drafted;
  }
  // What the last row before the `size`th token makes of states `shift` layers later.
  PlainVector PlainFeatures(int size, int shift) {
    const SafetensorsFile file = *SafetensorsFile::Open(folder_.path() + "/model.safetensors");
    const PlainEagle plain(file, PlainOptions());
    std::vector<PlainVector> features, embeddings;
    PlainInputs(plain, size, shift, features, embeddings);
    return plain.Run(features, embeddings).back().feature;
  }
  static double Distance(std::span<const float> found, const PlainVector& expected) {
    double largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      largest = std::max(largest, std::abs(found[i] - expected[i]));
    return largest;
  }

  TestModel target_{TinyTargetPath(), {Numerics::kF32, KvDtype::kF32}, 1};
  const std::vector<TokenId> text_ =
      *target_.tokenizer().Encode("def main(argv):\n    for name in argv:\n        print(name)\n", {});
  HeadFolder folder_;
  std::unique_ptr<Drafter> drafter_;

 private:
  static PlainEagleOptions PlainOptions() {
    const RandomEagleSpec spec = SpecOf(GetParam());
    return {.eagle3 = spec.eagle3,
            .layer = spec.eagle3 ? "midlayer" : "layers.0",
            .heads = spec.heads,
            .kv_heads = spec.kv_heads,
            .head_size = spec.head_size};
  }
  void PlainInputs(const PlainEagle& plain, int size, int shift, std::vector<PlainVector>& features,
                   std::vector<PlainVector>& embeddings) {
    std::vector<int> taps = drafter_->taps();
    for (int& tap : taps) tap += shift;
    const Features states = FeaturesFrom(0, size - 1, taps);
    for (int row = 0; row + 1 < size; ++row) {
      std::vector<PlainVector> taken;
      for (int tap = 0; tap < static_cast<int>(taps.size()); ++tap) {
        const std::span<const float> state = states.Row(tap, row);
        taken.emplace_back(state.begin(), state.end());
      }
      features.push_back(GetParam() ? plain.Feature(taken) : taken[0]);
      embeddings.push_back(Embedding(text_[row + 1]));
    }
  }
  PlainVector Embedding(TokenId token) {
    std::vector<float> x(kWidth);
    target_.model().backbone()->Embed({&token, 1}, x.data());
    return {x.begin(), x.end()};
  }
  TokenId Best(const SafetensorsFile& file, const PlainVector& hidden) {
    const RandomEagleSpec spec = SpecOf(GetParam());
    if (spec.eagle3) {
      const PlainVector words = PlainProduct(file, "lm_head.weight", hidden);
      const int word = static_cast<int>(std::max_element(words.begin(), words.end()) - words.begin());
      return word * (spec.vocab / spec.draft_vocab) + word % 2;
    }
    const std::vector<float> x(hidden.begin(), hidden.end());
    const ForwardRow row{.wanted = WantedOutput::kArgmax};
    return (*target_.model().backbone()->HeadOutputs(x, {&row, 1}))[0].argmax;
  }
};

TEST_P(EagleOnTiny, DraftsWhatPlainLoopsDraft) {
  for (const int size : {2, 3, 11}) EXPECT_EQ(DraftAtOnce(*drafter_, size, 5), PlainDraft(size, 5)) << size;
}

// The mistake of counting layers otherwise shows nowhere but in the numbers: the drafts may well be the same.
TEST_P(EagleOnTiny, StatesOfTheNextLayerGiveOtherLogits) {
  const RandomEagleSpec spec = SpecOf(GetParam());
  absl::StatusOr<EagleHead> head =
      EagleHead::Load(*HeadFiles::Open(folder_.path()), *target_.model().backbone(), kVocab, KvDtype::kF32);
  ASSERT_TRUE(head.ok()) << head.status();
  BlockTable table(*target_.pool, *target_.pool->RegisterLayout(head->layout()));
  const Features states = FeaturesFrom(0, 10, drafter_->taps());
  ASSERT_TRUE(table.Reserve(10).ok());
  ForwardBatch batch;
  for (int row = 0; row < 10; ++row)
    batch.rows.push_back({.token = text_[row + 1], .wanted = WantedOutput::kBestLogProb});
  batch.segments.push_back({&table, 0, 10, true});
  const EagleHead::Result result = *head->Forward(batch, head->TargetFeatures(states, 0, 10), 64);
  const std::span<const float> found = std::span(result.features).last(kWidth);
  EXPECT_LT(Distance(found, PlainFeatures(11, 0)), 1e-3);
  EXPECT_GT(Distance(found, PlainFeatures(11, spec.eagle3 ? 1 : -1)), 0.1);
}

TEST_P(EagleOnTiny, HowTheStatesArriveChangesNothing) {
  const std::vector<TokenId> expected = DraftAtOnce(*drafter_, 13, 6);
  const auto state = *drafter_->Open();
  const std::vector<int> taps = drafter_->taps();
  const Features prefix = FeaturesFrom(0, 4, taps), more = FeaturesFrom(4, 9, taps),
                 rest = FeaturesFrom(9, 12, taps);
  EXPECT_TRUE(Draft(*drafter_, *state, 3, 0, nullptr).empty());
  EXPECT_TRUE(Draft(*drafter_, *state, 6, 0, &prefix).empty());
  EXPECT_EQ(Draft(*drafter_, *state, 10, 6, &more).size(), 6u);
  EXPECT_EQ(Draft(*drafter_, *state, 13, 6, &rest), expected);
  // A text that turned out otherwise, and back.
  const Features again = FeaturesFrom(0, 6, taps), back = FeaturesFrom(6, 12, taps);
  EXPECT_EQ(Draft(*drafter_, *state, 7, 2, &again).size(), 2u);
  EXPECT_EQ(Draft(*drafter_, *state, 13, 6, &back), expected);
}

TEST_P(EagleOnTiny, IsSilentWhereStatesAreMissing) {
  const auto state = *drafter_->Open();
  const std::vector<int> taps = drafter_->taps();
  EXPECT_TRUE(Draft(*drafter_, *state, 5, 4, nullptr).empty());
  const Features gap = FeaturesFrom(2, 6, taps), few = FeaturesFrom(0, 4, taps),
                 next = FeaturesFrom(4, 6, taps);
  EXPECT_TRUE(Draft(*drafter_, *state, 7, 4, &gap).empty()) << "rows 0 and 1 never came";
  EXPECT_TRUE(Draft(*drafter_, *state, 7, 4, &few).empty()) << "the last two are missing";
  EXPECT_TRUE(Draft(*drafter_, *state, 7, 0, &few).empty());
  EXPECT_EQ(Draft(*drafter_, *state, 7, 4, &next), DraftAtOnce(*drafter_, 7, 4)) << "and then it goes on";
}

TEST_P(EagleOnTiny, TextIsThatOfPlainDecoding) {
  Request request;
  request.id = 1;
  request.prompt = text_;
  request.verifier = &Rule("greedy");
  request.max_new_tokens = 24;
  const std::vector<TokenId> plain = Complete(target_.model(), *target_.pool, request).result.output;
  request.drafter = drafter_.get();
  std::vector<Request> requests;
  for (int k = 1; k <= 6; ++k) {
    request.id = k;
    request.num_speculative_tokens = k;
    requests.push_back(request);
  }
  const std::vector<Completion> together =
      CompleteAll(target_.model(), *target_.pool, requests, {.max_batch_rows = 40, .prefill_chunk = 7});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(together[i].result.output, plain);
    EXPECT_GT(together[i].result.drafted, 10);
    EXPECT_EQ(CheckRecords(requests[i], together[i]), "");
  }
  EXPECT_EQ(target_.pool->usage().blocks_in_use, 0);
}

// A node of a tree sees its own path alone: the first of every level is the chain.
TEST_P(EagleOnTiny, PathsOfTreesAreChains) {
  const std::vector<TokenId> chain = DraftAtOnce(*drafter_, 11, 4);
  EXPECT_EQ(DraftAtOnce(*Make(folder_, R"(, "tree": {"type": "static", "widths": [1, 1, 1, 1]})"), 11, 4),
            chain);
  const auto bushy = Make(folder_, R"(, "tree": {"type": "static", "widths": [3, 2, 2, 1]})");
  EXPECT_FALSE(bushy->chains_only());
  const Features features = FeaturesFrom(0, 10, bushy->taps());
  const TokenTree tree = Proposing(*bushy).DraftTree(std::vector(text_.begin(), text_.begin() + 11),
                                                     {.budget = 40, .features = &features});
  ASSERT_EQ(tree.num_drafted(), 3 + 6 + 12 + 12);
  std::vector<TokenId> first;
  for (int node = 0; !tree.Children(node).empty();) {
    node = tree.Children(node)[0];
    first.push_back(tree.node(node).token);
  }
  EXPECT_EQ(first, chain);
}

TEST_P(EagleOnTiny, StopsWhereItIsNotSure) {
  EXPECT_TRUE(DraftAtOnce(*Make(folder_, R"(, "min_confidence": 0.999)"), 11, 5).empty());
  EXPECT_EQ(DraftAtOnce(*Make(folder_, R"(, "min_confidence": 1e-6)"), 11, 5), DraftAtOnce(*drafter_, 11, 5));
  EXPECT_EQ(drafter_->note(), GetParam() ? absl::StrCat("EAGLE-3, taps ", drafter_->taps()[0], " ",
                                                        drafter_->taps()[1], " ", drafter_->taps()[2])
                                         : absl::StrCat("EAGLE-1, taps ", drafter_->taps()[0]));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EagleOnTiny, testing::Bool(),
                         [](const auto& info) { return info.param ? "Eagle3" : "Eagle1"; });

}  // namespace
}  // namespace forerun
