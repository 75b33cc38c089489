// Speculation changes nothing: end to end on the tiny pair, every drafter and every K gives the text of
// `none`.
#include <algorithm>
#include <numeric>

#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

class Pair {
 public:
  Pair(const std::string& target, const std::string& draft) : target_(target, {}, 2) {
    absl::StatusOr<LoadedModel> loaded =
        LoadModel(draft, {}, target_.kernels, target_.threads, *target_.pool);
    if (loaded.ok()) draft_ = *std::move(loaded);
  }
  DrafterResources resources() {
    return {.target = &target_.model(),
            .draft = draft_.model.get(),
            .pool = target_.pool.get(),
            .target_tokenizer = &target_.tokenizer(),
            .draft_tokenizer = draft_.tokenizer.get()};
  }
  Model& target() { return target_.model(); }
  KvPool& pool() { return *target_.pool; }
  const Tokenizer& tokenizer() { return target_.tokenizer(); }

 private:
  TestModel target_;
  LoadedModel draft_;
};

#define TINY_SHORTLIST FORERUN_SOURCE_DIR "/tests/data/tiny-python/shortlist.json"

struct Strategy {
  const char* name;
  const char* json;
};
constexpr Strategy kStrategies[] = {
    {"none", R"({"type": "none"})"},
    {"ngram", R"({"type": "ngram", "ngram": {"min": 1, "max": 3}})"},
    {"ngram tree", R"({"type": "ngram", "ngram": {"branches": 4}})"},
    {"suffix", R"({"type": "suffix"})"},
    {"suffix tree", R"({"type": "suffix", "suffix": {"branches": 0, "factor": 4, "min_probability": 0}})"},
    {"sam", R"({"type": "sam"})"},
    {"ngram_cache", R"({"type": "ngram_cache"})"},
    {"ngram_cache tree", R"({"type": "ngram_cache", "ngram_cache": {"branches": 3, "min_share": 0.1}})"},
    {"prediction", R"({"type": "prediction", "prediction": {"min_match": 1, "text":
        "        self.items.append(item)\n\n    def pop(self):\n        return self.items[0]\n"}})"},
    {"draft_model", R"({"type": "draft_model"})"},
    {"draft_model sampled", R"({"type": "draft_model", "sample": "sampled"})"},
    {"draft_model coupled", R"({"type": "draft_model", "sample": "coupled"})"},
    {"draft_model confident", R"({"type": "draft_model", "min_confidence": 0.3})"},
    {"draft_model shortlist", R"({"type": "draft_model", "shortlist": ")" TINY_SHORTLIST R"("})"},
    {"draft_model sampled shortlist",
     R"({"type": "draft_model", "sample": "sampled", "shortlist": ")" TINY_SHORTLIST R"("})"},
    {"draft_tree", R"({"type": "draft_tree"})"},
    {"draft_tree opt", R"({"type": "draft_tree", "tree": {"type": "opt", "threshold": 0.05}})"},
    {"draft_tree with replacement",
     R"({"type": "draft_tree", "tree": {"type": "static", "widths": [3, 2, 1]}, "sample": "sampled"})"},
    {"draft_tree without replacement",
     R"({"type": "draft_tree", "tree": {"type": "dyspec"}, "sample": "sampled_without_replacement"})"},
    {"draft_tree coupled", R"({"type": "draft_tree", "tree": {"type": "sequoia"}, "sample": "coupled"})"},
    {"draft_tree shortlist", R"({"type": "draft_tree", "shortlist": ")" TINY_SHORTLIST R"("})"},
    {"cascade", R"({"type": "cascade"})"},
    {"cascade checked", R"({"type": "cascade", "cascade": {"min": 1, "max": 3, "direct_min": 0}})"},
    {"cascade direct", R"({"type": "cascade", "cascade": {"min": 1, "max": 3, "direct_min": 2}})"},
    {"cascade shortlist",
     R"({"type": "cascade", "min_confidence": 0.1, "shortlist": ")" TINY_SHORTLIST R"("})"},
    {"token_recycling", R"({"type": "token_recycling"})"},
    {"lookahead", R"({"type": "lookahead", "lookahead": {"window": 3, "level": 3}})"},
    {"lookahead text", R"({"type": "lookahead", "lookahead": {"level": 2, "pool_from_text": true}})"},
    {"early_exit", R"({"type": "early_exit", "early_exit": {"layers": 5}})"},
    {"early_exit sampled", R"({"type": "early_exit", "sample": "sampled", "early_exit": {"layers": 5}})"},
    {"layer_skip", R"({"type": "layer_skip", "layer_skip": {"attention": [3], "feed_forward": [2]}})"},
    {"layer_skip searched",
     R"({"type": "layer_skip", "layer_skip": {"share": 0.3, "search": {"candidates": 4}}})"},
    {"merged", R"({"type": "merged"})"},
    {"merged model",
     R"({"type": "merged", "parts": [{"type": "draft_model", "share": 2}, {"type": "ngram"}]})"},
    {"adaptive", R"({"type": "adaptive"})"},
    {"adaptive bandit", R"({"type": "adaptive", "adaptive": {"method": "bandit"},
        "parts": [{"type": "draft_model", "draft_cost": 0.1}, {"type": "token_recycling"}]})"},
    {"universal", R"({"type": "universal"})"},
    {"universal intersection", R"({"type": "universal", "method": "intersection", "sample": "sampled"})"},
    {"oracle", R"({"type": "oracle"})"},
    {"random", R"({"type": "random"})"},
};

// Of a drafter that is among the strategies itself: it need not meet every K and seed.
bool IsVariant(const Strategy& strategy) { return std::string(strategy.name).find(' ') != std::string::npos; }

const char* const kPrompts[] = {
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n",
    "import os\nimport sys\n\ndef main():\n    for name in os.listdir(",
    "    return self",
};

class TinyIdentity : public testing::Test {
 protected:
  static void SetUpTestSuite() { pair_ = new Pair(TinyTargetPath(), TinyDraftPath()); }
  static void TearDownTestSuite() {
    delete pair_;
    pair_ = nullptr;
  }
  Request MakeRequest(const char* prompt, int tokens) {
    Request request;
    request.id = 1;
    request.prompt = *pair_->tokenizer().Encode(prompt, {});
    request.verifier = &Rule("greedy");
    request.max_new_tokens = tokens;
    return request;
  }
  static Pair* pair_;
};
Pair* TinyIdentity::pair_ = nullptr;

TEST_F(TinyIdentity, GreedyTextEqualsPlainForEveryDrafterAndEveryK) {
  constexpr int kTokens = 48;
  std::vector<int> every_k(16);
  std::iota(every_k.begin(), every_k.end(), 1);
  const std::vector<int> some_k = {1, 4, 16};
  for (const Strategy& strategy : kStrategies) {
    const std::string name = strategy.name;
    const auto drafter = MakeDrafterOrDie(strategy.json, pair_->resources());
    int64_t drafted = 0, accepted = 0;
    for (const char* prompt : kPrompts) {
      Request request = MakeRequest(prompt, kTokens);
      const std::vector<TokenId> plain = Complete(pair_->target(), pair_->pool(), request).result.output;
      request.drafter = drafter.get();
      for (const int k : prompt == kPrompts[0] && !IsVariant(strategy) ? every_k : some_k) {
        SCOPED_TRACE(testing::Message() << name << ", K = " << k);
        request.num_speculative_tokens = k;
        const Completion completion = Complete(pair_->target(), pair_->pool(), request);
        EXPECT_EQ(completion.result.output, plain);
        EXPECT_EQ(CheckRecords(request, completion), "");
        drafted += completion.result.drafted;
        accepted += completion.result.accepted;
        if (name == "oracle") {
          EXPECT_EQ(completion.result.rounds, (kTokens + k) / (k + 1));
        }
      }
    }
    // Not vacuous: something was drafted, something stood and something fell, where that can be.
    if (name == "none") continue;
    EXPECT_GT(drafted, 0) << name;
    if (name != "random") {
      EXPECT_GT(accepted, 0) << name;
    }
    if (name != "oracle") {
      EXPECT_GT(drafted - accepted, 0) << name;
    }
  }
  EXPECT_EQ(pair_->pool().usage().blocks_in_use, 0);
}

TEST_F(TinyIdentity, ExactMatchGivesTheTextOfPlainSampling) {
  Request request = MakeRequest(kPrompts[0], 64);
  request.verifier = &Rule("exact_match");
  const std::vector<TokenId> greedy = Complete(pair_->target(), pair_->pool(), request).result.output;
  std::vector<std::vector<TokenId>> texts{greedy};
  for (const uint64_t seed : {1, 2, 3}) {
    request.sampling = {.temperature = 0.8f, .seed = seed};
    request.drafter = nullptr;
    const std::vector<TokenId> plain = Complete(pair_->target(), pair_->pool(), request).result.output;
    EXPECT_EQ(std::count(texts.begin(), texts.end(), plain), 0) << "seeds and greedy differ";
    texts.push_back(plain);
    for (const Strategy& strategy : kStrategies) {
      if (seed > 1 && IsVariant(strategy)) continue;
      const auto drafter = MakeDrafterOrDie(strategy.json, pair_->resources());
      request.drafter = drafter.get();
      for (const int k : {1, 3, 8}) {
        request.num_speculative_tokens = k;
        const Completion completion = Complete(pair_->target(), pair_->pool(), request);
        EXPECT_EQ(completion.result.output, plain) << strategy.name << ", K = " << k << ", seed " << seed;
        if (strategy.name == std::string("oracle")) {
          EXPECT_EQ(completion.result.rounds, (64 + k) / (k + 1));
        }
      }
    }
  }
}

TEST_F(TinyIdentity, PenaltiesMeanTheSameAtEveryNode) {
  Request request = MakeRequest(kPrompts[0], 48);
  request.sampling.repetition_penalty = 1.3f;
  request.sampling.presence_penalty = 0.4f;
  request.sampling.frequency_penalty = 0.2f;
  request.sampling.logit_bias = {{request.prompt[0], 2.0f}};
  const std::vector<TokenId> plain = Complete(pair_->target(), pair_->pool(), request).result.output;
  const Request unpenalised = MakeRequest(kPrompts[0], 48);
  EXPECT_NE(plain, Complete(pair_->target(), pair_->pool(), unpenalised).result.output)
      << "the penalties do nothing here";
  for (const Strategy& strategy : kStrategies) {
    const auto drafter = MakeDrafterOrDie(strategy.json, pair_->resources());
    request.drafter = drafter.get();
    request.num_speculative_tokens = 5;
    const Completion completion = Complete(pair_->target(), pair_->pool(), request);
    EXPECT_EQ(completion.result.output, plain) << strategy.name;
    if (strategy.name == std::string("oracle")) {
      EXPECT_EQ(completion.result.rounds, 8);
    }
  }
}

TEST_F(TinyIdentity, BatchesOfMixedStrategiesEqualEachSequenceAlone) {
  std::vector<std::unique_ptr<Drafter>> drafters;
  std::vector<Request> requests;
  std::vector<std::vector<TokenId>> alone;
  for (const char* prompt : kPrompts) {
    for (const Strategy& strategy : kStrategies) {
      drafters.push_back(MakeDrafterOrDie(strategy.json, pair_->resources()));
      Request request = MakeRequest(prompt, 24);
      request.id = 100 + requests.size();
      alone.push_back(Complete(pair_->target(), pair_->pool(), request).result.output);
      request.drafter = drafters.back().get();
      request.num_speculative_tokens = 1 + static_cast<int>(requests.size() % 6);
      requests.push_back(request);
    }
  }
  const std::vector<Completion> together =
      CompleteAll(pair_->target(), pair_->pool(), requests,
                  {.max_sequences = 7, .max_batch_rows = 40, .prefill_chunk = 11});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(together[i].result.output, alone[i]) << "request " << i;
    EXPECT_EQ(CheckRecords(requests[i], together[i]), "");
  }
  EXPECT_EQ(pair_->pool().usage().blocks_in_use, 0);
}

TEST_F(TinyIdentity, EachWeightIsStreamedOncePerForwardAndNoRowComputedTwice) {
  Request request = MakeRequest(kPrompts[0], 40);
  const auto ngram = MakeDrafterOrDie(R"({"type": "ngram"})", pair_->resources());
  request.drafter = ngram.get();
  request.num_speculative_tokens = 6;
  const Model::Counters before = pair_->target().counters();
  const Completion completion = Complete(pair_->target(), pair_->pool(), request);
  const Model::Counters after = pair_->target().counters();
  int64_t verified = 0;
  for (const RoundRecord& round : completion.rounds) verified += 1 + round.drafted;
  const int64_t prefill = static_cast<int64_t>(request.prompt.size()) - 1;
  EXPECT_EQ(after.rows - before.rows, prefill + verified);
  EXPECT_EQ(after.forwards - before.forwards, 1 + completion.result.rounds);  // the prompt fits one chunk
  // One forward over many rows reads what one over a single row reads.
  const int64_t head = PackedBytes(TensorType::kF16, 4096, 256);
  const int64_t per_round =
      (after.weight_bytes_read - before.weight_bytes_read + head) / (1 + completion.result.rounds);
  request.drafter = nullptr;
  const Completion plain = Complete(pair_->target(), pair_->pool(), request);
  const int64_t plain_bytes = pair_->target().counters().weight_bytes_read - after.weight_bytes_read + head;
  EXPECT_EQ(plain_bytes / (1 + plain.result.rounds), per_round);
}

// --- the pinned models, where they were fetched ---

void ExpectIdentityOnPinned(const std::string& target, const std::string& draft,
                            const std::vector<int>& widths, int tokens) {
  if (PinnedModelPath(target).empty()) GTEST_SKIP() << NotFetched(target);
  if (!draft.empty() && PinnedModelPath(draft).empty()) GTEST_SKIP() << NotFetched(draft);
  Pair pair(PinnedModelPath(target), draft.empty() ? TinyDraftPath() : PinnedModelPath(draft));
  Request request;
  request.prompt =
      *pair.tokenizer().Encode("def fibonacci(n):\n    \"\"\"Return the n-th Fibonacci number.\"\"\"\n", {});
  request.verifier = &Rule("greedy");
  request.max_new_tokens = tokens;
  const std::vector<TokenId> plain = Complete(pair.target(), pair.pool(), request).result.output;
  for (const Strategy& strategy : kStrategies) {
    const std::string name = strategy.name;
    // Drafts of the other vocabulary's ids are refused, and the layers named are those of the tiny target.
    const bool drafts_with_model = name.starts_with("draft_") || name.starts_with("cascade") ||
                                   name == "merged model" || name == "adaptive bandit";
    if ((draft.empty() && drafts_with_model) || name.starts_with("layer_skip") ||
        name.starts_with("early_exit"))
      continue;
    if (name.ends_with("shortlist")) continue;  // of the tiny pair's vocabulary
    const auto drafter = MakeDrafterOrDie(strategy.json, pair.resources());
    for (const int k : widths) {
      request.drafter = drafter.get();
      request.num_speculative_tokens = k;
      const Completion completion = Complete(pair.target(), pair.pool(), request);
      EXPECT_EQ(completion.result.output, plain) << name << ", K = " << k;
      EXPECT_EQ(CheckRecords(request, completion), "");
      if (name == "oracle") {
        EXPECT_EQ(completion.result.rounds, (tokens + k) / (k + 1));
      }
    }
  }
}

TEST(PinnedIdentity, SlowSmolLm2EveryK) {
  std::vector<int> widths;
  for (int k = 1; k <= 16; ++k) widths.push_back(k);
  ExpectIdentityOnPinned("smollm2-135m-instruct-q4_1", "", widths, 40);
}

TEST(PinnedIdentity, SlowQwenPair) {
  ExpectIdentityOnPinned("qwen2.5-coder-1.5b-instruct-q4_k_m", "qwen2.5-coder-0.5b-instruct-q4_k_m",
                         {1, 4, 16}, 34);
}

}  // namespace
}  // namespace forerun
