// Two vocabularies: what is written in one is the same text in the other.
#include <vector>

#include "drafters/models/vocabulary_bridge.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/random_model.h"
#include "tests/support/test_models.h"
#include "tests/support/tokenizer_files.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;

constexpr char kSource[] =
    "def parse(text):\n    \"\"\"Reads a list of numbers, one a line.\"\"\"\n    numbers = []\n\n"
    "    for line in text.split('\\n'):\n        if not line.strip():\n            continue\n"
    "        numbers.append(float(line))   # may fail  \n    return numbers\n\n\nclass Reader:\n"
    "    def __init__(self, path, encoding='utf-8'):\n        self.path = path  # \xC3\xA9t\xC3\xA9\n";

TEST(EndOfPiece, LiesBetweenTwoWordsOrNowhere) {
  const std::string words(70, 'a');
  EXPECT_EQ(EndOfPiece(words + " b", 0), 70u);
  EXPECT_EQ(EndOfPiece(words + " b", 10), 72u);  // too short a piece
  EXPECT_EQ(EndOfPiece(words + "  b", 0), 73u);  // more text could join the spaces
  EXPECT_EQ(EndOfPiece(words + "\n b", 0), 73u);
  EXPECT_EQ(EndOfPiece(words + " ", 0), 71u);  // what comes next is not known
  const std::string long_word = std::string(1023, 'a') + "\xC3\xA9\xC3\xA9 b";
  EXPECT_EQ(EndOfPiece(long_word, 0), 1025u);  // not inside a character
}

void ExpectTranslated(const Tokenizer& target, const Tokenizer& draft) {
  const auto bridge = VocabularyBridge::Create(&target, &draft, target.vocab_size(), draft.vocab_size());
  ASSERT_TRUE(bridge.ok());
  const Tokens written = *target.Encode(kSource, {}), expected = *draft.Encode(kSource, {});
  TranslatedText growing;
  for (std::size_t length = 1; length <= written.size(); ++length) {
    const std::span<const TokenId> committed = std::span(written).first(length);
    TranslatedText fresh;
    const absl::StatusOr<Tokens> once = bridge->Translate(committed, fresh);
    ASSERT_TRUE(once.ok()) << once.status();
    EXPECT_EQ(*bridge->Translate(committed, growing), *once) << "depends on what was asked before";
    EXPECT_EQ(draft.Decode(*once), target.Decode(committed));
  }
  EXPECT_EQ(*bridge->Translate(written, growing), expected) << "the pieces are not those of the whole text";
  EXPECT_GT(growing.settled, 100u);
  TranslatedText other = growing;  // a text that turned out otherwise
  const Tokens short_text(written.begin(), written.begin() + 5);
  EXPECT_EQ(draft.Decode(*bridge->Translate(short_text, other)), target.Decode(short_text));
  EXPECT_EQ(bridge->EncodeDrafted(expected), written);
}

TEST(VocabularyBridge, TranslatesTheTextAsAWholePieceByPiece) {
  const auto tiny = TinyTokenizer(), small = *MakeTokenizer(SmallBpe());
  ExpectTranslated(*tiny, *small);
  ExpectTranslated(*small, *tiny);
  const auto qwen = DownloadedTokenizer("qwen2.5-coder-0.5b-instruct-q4_k_m"),
             smol = DownloadedTokenizer("smollm2-135m-instruct-q4_1");
  if (qwen == nullptr || smol == nullptr) GTEST_SKIP() << "the larger tokenizers were not fetched";
  ExpectTranslated(*qwen, *smol);
  ExpectTranslated(*smol, *qwen);
}

TEST(VocabularyBridge, TokensOfTheSameBytesAreShared) {
  const auto tiny = TinyTokenizer(), small = *MakeTokenizer(SmallBpe());
  const auto bridge =
      *VocabularyBridge::Create(tiny.get(), small.get(), tiny->vocab_size(), small->vocab_size());
  int shared = 0;
  for (const TokenId id : bridge.SharedDraftIds()) {
    const TokenId other = bridge.target_of()[id];
    EXPECT_EQ(bridge.draft_of()[other], id);
    EXPECT_EQ(tiny->IsControl(other), small->IsControl(id));
    if (small->IsControl(id)) {
      EXPECT_EQ(tiny->TokenText(other), small->TokenText(id));
    } else {
      EXPECT_EQ(tiny->TokenBytes(other), small->TokenBytes(id));
    }
    ++shared;
  }
  EXPECT_GE(shared, 200);  // most bytes, at least
  EXPECT_LT(shared, small->vocab_size());
}

TEST(VocabularyBridge, DraftedTextEndsAtAControlTokenOrAnUnfinishedCharacter) {
  const auto tiny = TinyTokenizer(), small = *MakeTokenizer(SmallBpe());
  const auto bridge =
      *VocabularyBridge::Create(tiny.get(), small.get(), tiny->vocab_size(), small->vocab_size());
  const auto drafted = [&](const char* text) {
    return tiny->Decode(bridge.EncodeDrafted(*small->Encode(text, {.parse_special = true})));
  };
  EXPECT_EQ(drafted("return a<|im_end|>b"), "return a");
  EXPECT_EQ(drafted("a\xC3\xA9 \xC3"), "a\xC3\xA9 ");
  EXPECT_EQ(drafted("\xA9"), "");
  EXPECT_TRUE(bridge.EncodeDrafted({}).empty());
}

TEST(VocabularyBridge, WithoutTokenizersIdsStandForThemselves) {
  TranslatedText text;
  const auto bridge = *VocabularyBridge::Create(nullptr, nullptr, 5, 5);
  EXPECT_EQ(*bridge.Translate(Tokens{3, 1}, text), (Tokens{3, 1}));
  EXPECT_EQ(bridge.EncodeDrafted(Tokens{4, 2}), (Tokens{4, 2}));
  EXPECT_EQ(bridge.SharedDraftIds(), (Tokens{0, 1, 2, 3, 4}));
  EXPECT_FALSE(VocabularyBridge::Create(nullptr, nullptr, 5, 6).ok());
}

// A draft model of 320 words beside the tiny target's 4,096.
class UniversalPair : public testing::Test {
 protected:
  UniversalPair()
      : target_(TinyTargetPath(), {}, 2),
        file_(RandomModelSpec{.width = 64, .ffn_width = 64, .heads = 2, .kv_heads = 1, .head_size = 32}),
        draft_(*LoadModel(file_.path(), {}, target_.kernels, target_.threads, *target_.pool)) {}
  DrafterResources resources() {
    return {.target = &target_.model(),
            .draft = draft_.model.get(),
            .pool = target_.pool.get(),
            .target_tokenizer = target_.loaded.tokenizer.get(),
            .draft_tokenizer = draft_.tokenizer.get()};
  }

  TestModel target_;
  ModelFile file_;
  LoadedModel draft_;
};

TEST_F(UniversalPair, TheTextIsTheTargetsWhateverTheDraftSays) {
  Request request;
  request.id = 1;
  request.prompt = *target_.tokenizer().Encode("class Stack:\n    def __init__(self):\n", {});
  request.verifier = &Rule("greedy");
  request.max_new_tokens = 24;
  const Tokens plain = Complete(target_.model(), *target_.pool, request).result.output;
  request.sampling = {.temperature = 0.8f, .seed = 4};
  request.verifier = &Rule("exact_match");
  const Tokens sampled = Complete(target_.model(), *target_.pool, request).result.output;
  for (const char* json :
       {R"({"type": "universal"})", R"({"type": "universal", "method": "intersection"})",
        R"({"type": "universal", "method": "intersection", "sample": "sampled"})",
        R"({"type": "universal", "method": "intersection", "sample": "coupled", "min_confidence": 0.001})"}) {
    const auto drafter = MakeDrafterOrDie(json, resources());
    request.drafter = drafter.get();
    request.num_speculative_tokens = 4;
    request.sampling = {};
    request.verifier = &Rule("greedy");
    const Completion greedy = Complete(target_.model(), *target_.pool, request);
    EXPECT_EQ(greedy.result.output, plain) << json;
    EXPECT_GT(greedy.result.drafted, 20) << json;
    request.sampling = {.temperature = 0.8f, .seed = 4};
    request.verifier = &Rule("exact_match");
    EXPECT_EQ(Complete(target_.model(), *target_.pool, request).result.output, sampled) << json;
  }
  EXPECT_EQ(target_.pool->usage().blocks_in_use, 0);
}

TEST_F(UniversalPair, OtherDraftersRefuseAnotherVocabulary) {
  for (const char* type : {"draft_model", "cascade"}) {
    const auto made = MakeDrafter(Json{{"type", type}}, resources());
    ASSERT_FALSE(made.ok());
    EXPECT_NE(std::string(made.status().message()).find("different vocabularies"), std::string::npos);
  }
  const auto made = MakeDrafter(Json{{"type", "universal"}, {"sample", "sampled"}}, resources());
  EXPECT_EQ(made.status().message(), "drafter.sample: expected greedy, as method is text, found \"sampled\"");
}

TEST(PinnedUniversal, SlowSmolLm2DraftsForQwen) {
  const std::string target = PinnedModelPath("qwen2.5-coder-0.5b-instruct-q4_k_m"),
                    draft = PinnedModelPath("smollm2-135m-instruct-q4_1");
  if (target.empty() || draft.empty()) GTEST_SKIP() << NotFetched(target.empty() ? "qwen" : "smollm2");
  TestModel model(target, {}, 2);
  const LoadedModel other = *LoadModel(draft, {}, model.kernels, model.threads, *model.pool);
  const DrafterResources resources{.target = &model.model(),
                                   .draft = other.model.get(),
                                   .pool = model.pool.get(),
                                   .target_tokenizer = &model.tokenizer(),
                                   .draft_tokenizer = other.tokenizer.get()};
  Request request;
  request.prompt =
      *model.tokenizer().Encode("def fibonacci(n):\n    \"\"\"Return the n-th Fibonacci number.\"\"\"\n", {});
  request.verifier = &Rule("greedy");
  request.max_new_tokens = 40;
  const Tokens plain = Complete(model.model(), *model.pool, request).result.output;
  request.num_speculative_tokens = 4;
  for (const char* method : {"text", "intersection"}) {
    const auto drafter =
        MakeDrafterOrDie(DumpJson(Json{{"type", "universal"}, {"method", method}}), resources);
    request.drafter = drafter.get();
    const Completion completion = Complete(model.model(), *model.pool, request);
    EXPECT_EQ(completion.result.output, plain) << method;
    EXPECT_GT(completion.result.accepted, 8) << method;
    std::printf("%s: %d of %d accepted, %d rounds\n", method, static_cast<int>(completion.result.accepted),
                static_cast<int>(completion.result.drafted), completion.result.rounds);
  }
}

}  // namespace
}  // namespace forerun
