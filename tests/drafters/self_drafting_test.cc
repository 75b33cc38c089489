// The target drafts for itself: with which layers, on whose pages, and how a set of layers is found.
#include <algorithm>
#include <vector>

#include "core/model/table_model.h"
#include "drafters/models/layer_search.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;
constexpr int kVocab = 6;

class SelfDrafting : public testing::Test {
 protected:
  std::unique_ptr<Drafter> Make(const std::string& json) {
    return MakeDrafterOrDie(json, {.target = &target_, .pool = pool_.get()});
  }
  TokenTree Draft(Drafter& drafter, const Tokens& committed, int budget, const Sampling& sampling = {}) {
    const BlockTable pages = PagesOf(target_, *pool_, std::span(committed).first(committed.size() - 1));
    const auto before = pool_->usage().blocks_in_use;
    const auto state = *drafter.Open();
    TokenTree tree(committed.back());
    DraftTask task{.state = state.get(),
                   .committed = committed,
                   .prompt_length = 1,
                   .sampling = &sampling,
                   .request = 3,
                   .budget = budget,
                   .max_depth = budget,
                   .target_table = &pages,
                   .tree = &tree,
                   .status = absl::OkStatus()};
    EXPECT_TRUE(drafter.Propose({&task, 1}).ok());
    EXPECT_TRUE(task.status.ok()) << task.status;
    EXPECT_EQ(pool_->usage().blocks_in_use, before) << "a draft keeps no pages";
    return tree;
  }
  // The chain of the best words by the last `seen` tokens.
  Tokens BestChain(Tokens text, int seen, int length) const {
    const std::size_t begin = text.size();
    for (int i = 0; i < length; ++i) {
      const std::vector<float> logits =
          target_.Logits(std::span(text).last(std::min<std::size_t>(seen, text.size())));
      text.push_back(static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
    }
    return {text.begin() + begin, text.end()};
  }

  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  TableModel target_{*pool_, ContextTable::Random(kVocab, 4, 1)};
};

const Tokens kText = {3, 1, 4, 1, 5, 2, 2, 0, 5, 3, 5, 1, 4, 4, 3, 2, 3, 1};  // longer than a block

TEST_F(SelfDrafting, ChainsAreThoseOfTheLayersKept) {
  for (int kept = 1; kept <= 4; ++kept) {
    const auto drafter =
        Make(R"({"type": "early_exit", "early_exit": {"layers": )" + std::to_string(kept) + "}}");
    const TokenTree tree = Draft(*drafter, kText, 5);
    EXPECT_EQ(tree.PathTokens(5), BestChain(kText, kept, 5)) << kept;
  }
  const auto drafter =
      Make(R"({"type": "layer_skip", "layer_skip": {"attention": [0, 2], "feed_forward": [1]}})");
  EXPECT_EQ(drafter->note(), "without attention 0 2, feed-forward 1");
  EXPECT_EQ(Draft(*drafter, kText, 5).PathTokens(5), BestChain(kText, 2, 5));
}

TEST_F(SelfDrafting, SampledDraftsKeepTheQOfTheLayersKept) {
  const auto drafter = Make(R"({"type": "early_exit", "sample": "sampled", "early_exit": {"layers": 2}})");
  const Sampling sampling{.temperature = 1, .seed = 5};
  const TokenTree tree = Draft(*drafter, kText, 4, sampling);
  Tokens text = kText;
  for (int node = 0; node < 4; ++node) {
    ASSERT_EQ(tree.proposal(node), Proposal::kSampled);
    const Distribution q = Distribution::FromLogits(target_.Logits(std::span(text).last(2)), sampling, {});
    for (TokenId token = 0; token < kVocab; ++token) EXPECT_EQ((*tree.q(node))[token], q[token]);
    text.push_back(tree.node(node + 1).token);
  }
}

TEST_F(SelfDrafting, WithAllLayersEverythingStands) {
  const auto drafter = Make(R"({"type": "early_exit", "early_exit": {"layers": 4}})");
  Request request;
  request.prompt = {1, 2, 3};
  request.drafter = drafter.get();
  request.verifier = &Rule("greedy");
  request.num_speculative_tokens = 4;
  request.max_new_tokens = 50;
  EXPECT_EQ(Complete(target_, *pool_, request).result.rounds, 10);
}

TEST_F(SelfDrafting, RefusesWhatTheTargetDoesNotHave) {
  for (const char* json : {R"({"type": "early_exit", "early_exit": {"layers": 5}})",
                           R"({"type": "early_exit", "early_exit": {"layers": 0}})",
                           R"({"type": "layer_skip", "sample": "sampled", "layer_skip": {"attention": [4]}})",
                           R"({"type": "layer_skip", "layer_skip": {"attention": [1], "share": 0.5}})",
                           R"({"type": "layer_skip", "layer_skip": {"search": {"candidate": 3}}})"}) {
    const auto made = MakeDrafter(*ParseJson(json, "test"), {.target = &target_, .pool = pool_.get()});
    ASSERT_FALSE(made.ok()) << json;
    EXPECT_EQ(std::string(made.status().message()).find("drafter."), 0u) << made.status();
  }
}

int Skipped(const LayerSubset& subset) {
  return static_cast<int>(std::count(subset.attention.begin(), subset.attention.end(), false) +
                          std::count(subset.feed_forward.begin(), subset.feed_forward.end(), false));
}

bool KeepsTheEnds(const LayerSubset& subset) {
  return subset.attention.front() && subset.attention.back() && subset.feed_forward.front() &&
         subset.feed_forward.back();
}

TEST(LayerSearch, EvenlySpacedKeepsTheEndsAndItsShare) {
  for (const int layers : {1, 2, 3, 6, 28}) {
    for (const double share : {0.0, 0.25, 0.5, 1.0}) {
      const LayerSubset subset = EvenlySpaced(layers, share);
      EXPECT_EQ(Skipped(subset), std::lround(share * std::max(0, 2 * (layers - 2))))
          << layers << " " << share;
      EXPECT_TRUE(KeepsTheEnds(subset));
    }
  }
}

// Agreement of the subset's best words with the whole model's, after each of the prompt's last 24 tokens.
class LayerSearchOfTiny : public testing::Test {
 protected:
  LayerSearchOfTiny() : tiny_(TinyTargetPath(), {}, 2) {
    prompt_ = *tiny_.tokenizer().Encode(
        "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n", {});
  }
  LayerSubset Search(const LayerSubset& start, int candidates, uint64_t seed) {
    const Sampling sampling{.seed = seed};
    const BlockTable pages =
        PagesOf(tiny_.model(), *tiny_.pool, std::span(prompt_).first(prompt_.size() - 1));
    const DraftTask task{.committed = prompt_,
                         .prompt_length = static_cast<int>(prompt_.size()),
                         .sampling = &sampling,
                         .request = 1,
                         .target_table = &pages,
                         .status = absl::OkStatus()};
    const int64_t before = tiny_.model().counters().forwards;
    const auto found = SearchLayers(tiny_.model(), task, start, {.candidates = candidates, .tokens = 24});
    EXPECT_TRUE(found.ok()) << found.status();
    forwards_ = static_cast<int>(tiny_.model().counters().forwards - before);
    return *found;
  }
  int Agreements(const LayerSubset& subset) {
    const auto best = [&](const LayerSubset* layers) {
      BlockTable table = PagesOf(tiny_.model(), *tiny_.pool, std::span(prompt_).first(prompt_.size() - 24));
      EXPECT_TRUE(table.Reserve(24).ok());
      ForwardBatch batch;
      batch.layers = layers;
      for (const TokenId token : std::span(prompt_).last(24))
        batch.rows.push_back({.token = token, .wanted = WantedOutput::kArgmax});
      batch.segments.push_back({&table, 0, 24, true});
      Tokens words;
      const absl::StatusOr<ForwardResult> result = tiny_.model().Forward(batch);
      EXPECT_TRUE(result.ok()) << result.status();
      for (const RowOutput& row : result->rows) words.push_back(row.argmax);
      return words;
    };
    const Tokens whole = best(nullptr), partial = best(&subset);
    int count = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) count += whole[i] == partial[i];
    return count;
  }

  TestModel tiny_;
  Tokens prompt_;
  int forwards_ = 0;
};

TEST_F(LayerSearchOfTiny, FindsLayersThatAgreeMoreForNoMoreWork) {
  ASSERT_GE(prompt_.size(), 25u);
  const LayerSubset start = EvenlySpaced(6, 0.5);
  const LayerSubset found = Search(start, 24, 3);
  EXPECT_GT(Agreements(found), Agreements(start));
  EXPECT_EQ(Skipped(found), Skipped(start));
  EXPECT_TRUE(KeepsTheEnds(found));
  EXPECT_LE(forwards_, 24 + 2);
  EXPECT_EQ(Search(start, 24, 3), found);
}

TEST_F(LayerSearchOfTiny, HasNothingToDoWithoutACandidateOrAPrompt) {
  const LayerSubset start = EvenlySpaced(6, 0.5);
  EXPECT_EQ(Search(start, 0, 3), start);
  EXPECT_EQ(forwards_, 0);
  prompt_.resize(3);
  EXPECT_EQ(Search(start, 24, 3), start);
  EXPECT_EQ(forwards_, 0);
}

}  // namespace
}  // namespace forerun
