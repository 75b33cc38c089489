// The engine on an exact toy model: stopping, running out of memory, batching, what is refused.
#include "core/engine/engine.h"

#include <algorithm>
#include <numeric>

#include "core/model/table_model.h"
#include "experiments/lossless/law.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

using testing::HasSubstr;

constexpr int kVocab = 8;

class EngineTest : public testing::Test {
 protected:
  EngineTest()
      : pool_(*KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16})),
        model_(*pool_, ContextTable::Random(kVocab, 2, 7)) {}

  Request MakeRequest(int new_tokens, Drafter* drafter = nullptr, int num_speculative_tokens = 0) {
    Request request;
    request.id = ++last_id_;
    request.prompt = {1, 2, 3, 4, 5};
    request.drafter = drafter;
    request.num_speculative_tokens = num_speculative_tokens;
    request.verifier = &Rule("greedy");
    request.max_new_tokens = new_tokens;
    return request;
  }
  std::unique_ptr<Drafter> OracleDrafter() {
    return MakeDrafterOrDie(R"({"type": "oracle"})", {.target = &model_, .pool = pool_.get()});
  }
  // What plain greedy decoding says, from the table alone.
  std::vector<TokenId> Plain(std::vector<TokenId> context, int count) {
    const std::size_t prompt = context.size();
    for (int i = 0; i < count; ++i) context.push_back(DistributionAt(model_.table(), context).Argmax());
    return {context.begin() + prompt, context.end()};
  }

  uint64_t last_id_ = 0;
  std::unique_ptr<KvPool> pool_;
  TableModel model_;
};

TEST_F(EngineTest, PlainDecodingFollowsTheTable) {
  const Request request = MakeRequest(40);
  const Completion completion = Complete(model_, *pool_, request);
  EXPECT_EQ(completion.result.output, Plain(request.prompt, 40));
  EXPECT_EQ(completion.result.reason, FinishReason::kMaxTokens);
  EXPECT_EQ(completion.result.rounds, 40);
  EXPECT_EQ(CheckRecords(request, completion), "");
  EXPECT_EQ(pool_->usage().blocks_in_use, 0);
}

TEST_F(EngineTest, OracleTakesTheFewestPossibleRounds) {
  const auto oracle = OracleDrafter();
  for (const int k : {1, 2, 3, 7}) {
    for (const int tokens : {1, 2, 3, 8, 17, 24}) {
      const Request request = MakeRequest(tokens, oracle.get(), k);
      const Completion completion = Complete(model_, *pool_, request);
      EXPECT_EQ(completion.result.output, Plain(request.prompt, tokens));
      EXPECT_EQ(completion.result.rounds, (tokens + k) / (k + 1)) << "K " << k << ", tokens " << tokens;
      EXPECT_EQ(CheckRecords(request, completion), "");
    }
  }
}

TEST_F(EngineTest, StopsAtAnEndTokenInsideAnAcceptedDraft) {
  const auto oracle = OracleDrafter();
  const std::vector<TokenId> plain = Plain({1, 2, 3, 4, 5}, 30);
  for (std::size_t end = 0; end < 10; ++end) {
    Request request = MakeRequest(30, oracle.get(), 6);
    request.end_tokens = {plain[end]};
    const std::size_t first = std::find(plain.begin(), plain.end(), plain[end]) - plain.begin();
    const Completion completion = Complete(model_, *pool_, request);
    EXPECT_EQ(completion.result.output, std::vector<TokenId>(plain.begin(), plain.begin() + first + 1));
    EXPECT_EQ(completion.result.reason, FinishReason::kEndToken);
    EXPECT_EQ(CheckRecords(request, completion), "");
    EXPECT_EQ(completion.rounds.back().truncated + completion.rounds.back().emitted.size(), 7u)
        << "the rest of the verdict is counted as truncated";
  }
}

TEST_F(EngineTest, EndsAtTheContextsEnd) {
  TableModel small(*pool_, ContextTable::Random(kVocab, 2, 7), 12);
  const auto oracle = MakeDrafterOrDie(R"({"type": "oracle"})", {.target = &small, .pool = pool_.get()});
  for (Drafter* drafter : {static_cast<Drafter*>(nullptr), oracle.get()}) {
    const Request request = MakeRequest(100, drafter, drafter == nullptr ? 0 : 4);
    const Completion completion = Complete(small, *pool_, request);
    EXPECT_EQ(completion.result.output, Plain(request.prompt, 7));  // 5 + 7 tokens fill the context of 12
    EXPECT_EQ(completion.result.reason, FinishReason::kContextEnd);
    EXPECT_EQ(CheckRecords(request, completion), "");
  }
}

TEST_F(EngineTest, ZeroSpeculativeTokensNeverAsksTheDrafter) {
  class Forbidden final : public Drafter {
   public:
    absl::string_view name() const override { return "forbidden"; }
    Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
    absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return absl::InternalError("asked"); }
    absl::Status Propose(std::span<DraftTask>) override { return absl::InternalError("asked"); }
  } forbidden;
  const Request request = MakeRequest(10, &forbidden, 0);
  EXPECT_EQ(Complete(model_, *pool_, request).result.output, Plain(request.prompt, 10));
}

TEST_F(EngineTest, SequencesInABatchAreEachAsIfAlone) {
  const auto oracle = OracleDrafter();
  const auto random = MakeDrafterOrDie(R"({"type": "random"})", {.target = &model_, .pool = pool_.get()});
  const auto ngram = MakeDrafterOrDie(R"({"type": "ngram"})", {.target = &model_, .pool = pool_.get()});
  std::vector<Request> requests;
  Drafter* drafters[] = {nullptr, oracle.get(), random.get(), ngram.get()};
  for (int i = 0; i < 12; ++i) {
    Request request = MakeRequest(5 + 7 * i, drafters[i % 4], i % 4 == 0 ? 0 : 1 + i % 5);
    request.prompt.assign(1 + 3 * i, TokenId{0});
    for (std::size_t t = 0; t < request.prompt.size(); ++t) request.prompt[t] = (t * (i + 1) + i) % kVocab;
    requests.push_back(request);
  }
  // Few rows and short chunks: prefill chunks, decode and verify rows of different sequences share forwards.
  const std::vector<Completion> together =
      CompleteAll(model_, *pool_, requests, {.max_sequences = 5, .max_batch_rows = 16, .prefill_chunk = 7});
  bool mixed = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(together[i].result.output, Plain(requests[i].prompt, requests[i].max_new_tokens))
        << "request " << i;
    EXPECT_EQ(CheckRecords(requests[i], together[i]), "") << "request " << i;
    for (const RoundRecord& round : together[i].rounds) {
      EXPECT_LE(round.batch_rows, 16);
      mixed = mixed || (round.batch_sequences > 2 && round.batch_rows == 16);
    }
  }
  EXPECT_TRUE(mixed) << "the batch was never full: the test tests nothing";
  EXPECT_EQ(pool_->usage().blocks_in_use, 0);
}

TEST_F(EngineTest, RunningOutOfMemoryEndsOneRequestOnly) {
  // One slab of a few blocks: two long sequences cannot both grow to the end.
  const auto pool = *KvPool::Create({.budget_bytes = 1 << 16, .slab_bytes = 1 << 16});
  TableModel model(*pool, ContextTable::Random(kVocab, 2, 7));
  const int blocks = static_cast<int>((1 << 16) / pool->layout(model.kv_layout_id()).block_bytes());
  ASSERT_GT(blocks, 4);
  const int all = blocks * kBlockTokens;
  std::vector<Request> requests{MakeRequest(all / 2 + 40), MakeRequest(all / 2 + 40), MakeRequest(10)};
  // The first is ahead of the second, so it meets the wall alone; what it held lets the second finish.
  requests[0].prompt.assign(100, 3);
  const std::vector<Completion> done = CompleteAll(model, *pool, requests);
  int failed = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const RequestResult& result = done[i].result;
    const std::vector<TokenId> plain = Plain(requests[i].prompt, requests[i].max_new_tokens);
    if (result.reason == FinishReason::kError) {
      ++failed;
      EXPECT_EQ(result.status.code(), absl::StatusCode::kResourceExhausted);
      EXPECT_TRUE(std::equal(result.output.begin(), result.output.end(), plain.begin()))
          << "what came out is right";
    } else {
      EXPECT_EQ(result.output, plain);
    }
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(pool->usage().blocks_in_use, 0);
}

TEST_F(EngineTest, RefusesWhatItCannotDo) {
  Engine engine(model_, *pool_, {});
  const auto expect_refused = [&](Request request, const char* text) {
    const absl::Status status = engine.Add(std::move(request));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  };
  Request request = MakeRequest(5);
  request.prompt = {};
  expect_refused(request, "prompt");
  request = MakeRequest(5);
  request.prompt = {0, kVocab};
  expect_refused(request, "found 8");
  request = MakeRequest(5);
  request.prompt.assign(5000, 0);
  expect_refused(request, "context length 4096");
  expect_refused(MakeRequest(0), "max_new_tokens");
  expect_refused(MakeRequest(5, nullptr, -1), "num_speculative_tokens");
  request = MakeRequest(5);
  request.verifier = nullptr;
  expect_refused(request, "verifier");
  request = MakeRequest(5);
  request.stop_strings = {"x"};
  expect_refused(request, "tokenizer");
  request = MakeRequest(5);
  request.sampling.temperature = 1;
  expect_refused(request,
                 "exact_match");  // `greedy` would not keep the law; the message names a rule that would
  request = MakeRequest(5);
  request.sampling.top_p = 0;
  expect_refused(request, "top_p");
  request = MakeRequest(5);
  ASSERT_TRUE(engine.Add(request).ok());
  expect_refused(request, "in use");
}

TEST_F(EngineTest, LogProbabilitiesAreTheTargets) {
  const auto oracle = OracleDrafter();
  Request request = MakeRequest(12, oracle.get(), 3);
  request.want_log_probs = true;
  request.sampling.temperature = 0.5;  // the warp does not touch what is reported
  request.verifier = &Rule("exact_match");
  const Completion completion = Complete(model_, *pool_, request);
  std::vector<TokenId> context = request.prompt;
  ASSERT_EQ(completion.result.log_probs.size(), completion.result.output.size());
  for (std::size_t i = 0; i < completion.result.output.size(); ++i) {
    const TokenId token = completion.result.output[i];
    EXPECT_NEAR(completion.result.log_probs[i], std::log(DistributionAt(model_.table(), context)[token]),
                1e-5);
    context.push_back(token);
  }
}

TEST(EngineStopStrings, EndWhereTheTextIsComplete) {
  TestModel tiny(TinyTargetPath(), {}, 2);
  Request request;
  request.prompt = *tiny.tokenizer().Encode("def add(self, a, b):\n", {});
  request.verifier = &Rule("greedy");
  request.max_new_tokens = 40;
  request.tokenizer = &tiny.tokenizer();
  const std::vector<TokenId> plain = Complete(tiny.model(), *tiny.pool, request).result.output;
  const std::string text = tiny.tokenizer().Decode(plain);
  const auto oracle =
      MakeDrafterOrDie(R"({"type": "oracle"})", {.target = &tiny.model(), .pool = tiny.pool.get()});
  for (const std::size_t at : {5, 12, 25}) {
    const std::string stop = text.substr(at, 4);
    request.stop_strings = {stop};
    request.drafter = nullptr;
    const Completion alone = Complete(tiny.model(), *tiny.pool, request);
    EXPECT_EQ(alone.result.reason, FinishReason::kStopString);
    const std::string found = tiny.tokenizer().Decode(alone.result.output);
    EXPECT_NE(found.find(stop), std::string::npos);
    const std::string before =
        tiny.tokenizer().Decode(std::span(alone.result.output).first(alone.result.output.size() - 1));
    EXPECT_EQ(before.find(stop), std::string::npos) << "it could have ended a token earlier";
    request.drafter = oracle.get();
    request.num_speculative_tokens = 7;
    EXPECT_EQ(Complete(tiny.model(), *tiny.pool, request).result.output, alone.result.output);
  }
}

}  // namespace
}  // namespace forerun
