#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "tests/support/tokenizer_files.h"

namespace forerun {
namespace {

::testing::AssertionResult Differ(const TokenizerSpec& target, const TokenizerSpec& draft,
                                  absl::string_view what) {
  const auto a = MakeTokenizer(target, "target.gguf"), b = MakeTokenizer(draft, "draft.gguf");
  if (!a.ok() || !b.ok()) return ::testing::AssertionFailure() << a.status() << b.status();
  const absl::Status status = CheckSameVocabulary(**a, **b);
  const absl::string_view message = status.message();
  if (status.code() != absl::StatusCode::kInvalidArgument || !absl::StrContains(message, what) ||
      !absl::StrContains(message, "in target.gguf") || !absl::StrContains(message, "in draft.gguf") ||
      absl::StrContains(message, "\n")) {
    return ::testing::AssertionFailure() << status;
  }
  return ::testing::AssertionSuccess();
}

TEST(SameVocabularyTest, Same) {
  const auto a = MakeTokenizer(SmallBpe()), b = MakeTokenizer(SmallBpe());
  EXPECT_TRUE(CheckSameVocabulary(**a, **b).ok());
}

TEST(SameVocabularyTest, TinyPair) {
  const auto draft = GgufFile::Open(FORERUN_SOURCE_DIR "/tests/data/tiny-python/tiny-python-draft-f16.gguf");
  ASSERT_TRUE(draft.ok()) << draft.status();
  EXPECT_TRUE(CheckSameVocabulary(*TinyTokenizer(), **Tokenizer::FromGguf(*draft)).ok());
}

TEST(SameVocabularyTest, DownloadedPair) {
  const auto draft = DownloadedTokenizer("qwen2.5-coder-0.5b-instruct-q4_k_m");
  const auto target = DownloadedTokenizer("qwen2.5-coder-1.5b-instruct-q4_k_m");
  const auto other = DownloadedTokenizer("smollm2-135m-instruct-q4_1");
  if (!draft || !target || !other) GTEST_SKIP() << "the models have not been fetched";
  EXPECT_TRUE(CheckSameVocabulary(*target, *draft).ok());
  EXPECT_FALSE(CheckSameVocabulary(*target, *other).ok());
}

TEST(SameVocabularyTest, Size) {
  TokenizerSpec larger = SmallBpe();
  larger.Add("more", kNormalType);
  EXPECT_TRUE(Differ(SmallBpe(), larger, "number of tokens: 275 in target.gguf, 276 in draft.gguf"));
}

TEST(SameVocabularyTest, TextOfTheFirstTokenThatDiffers) {
  TokenizerSpec draft = SmallBpe();
  draft.tokens[3] = "x\ny";
  draft.tokens[5] = "later";
  EXPECT_TRUE(Differ(SmallBpe(), draft, "token 3: \"\\xc4\\x83\" in target.gguf, \"x\\ny\" in draft.gguf"));
}

TEST(SameVocabularyTest, Kind) {
  TokenizerSpec draft = SmallBpe();
  draft.types.back() = kControlType;
  EXPECT_TRUE(
      Differ(SmallBpe(), draft, "kind of token 274: text in target.gguf, a control token in draft.gguf"));
  EXPECT_TRUE(
      Differ(draft, SmallBpe(), "kind of token 274: a control token in target.gguf, text in draft.gguf"));
}

TEST(SameVocabularyTest, Bytes) {
  TokenizerSpec draft = SmallBpe();
  draft.types[32] = kUserDefinedType;  // its text "Ġ" now means itself
  EXPECT_TRUE(Differ(SmallBpe(), draft, "bytes of token 32: \" \" in target.gguf"));
}

TEST(SameVocabularyTest, Bos) {
  TokenizerSpec target = SmallBpe(), draft = SmallBpe();
  target.bos = draft.bos = 266;
  draft.adds_bos = true;
  EXPECT_TRUE(Differ(target, draft, "BOS before a text: not added in target.gguf, added in draft.gguf"));
  target.adds_bos = true;
  target.bos = 267;
  EXPECT_TRUE(Differ(target, draft, "BOS: token 267 in target.gguf, token 266 in draft.gguf"));
}

}  // namespace
}  // namespace forerun
