#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/tokenizer/utf8.h"
#include "tests/support/tokenizer_files.h"

namespace forerun {
namespace {

// What Python's bytes.decode("utf-8", "replace") gives for the whole.
std::string ReplaceInvalid(absl::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Utf8Step step = StepUtf8(bytes);
    text += step.kind == Utf8Kind::kValid ? std::string(bytes.substr(0, step.size)) : "\uFFFD";
    bytes.remove_prefix(step.size);
  }
  return text;
}

// Computed with Python.
TEST(Utf8Test, OneReplacementForEachMaximalSubpart) {
  const std::pair<std::string, std::string> kCases[] = {
      {"a\xFFz", "a\uFFFDz"},
      {"\xE6\x97", "\uFFFD"},
      {"\xE6\x97z", "\uFFFDz"},
      {"\xE0\x80\x80", "\uFFFD\uFFFD\uFFFD"},
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
      {"\xF0\x9F\x98", "\uFFFD"},
      {"\xF0\x9F\x98\xF0\x9F\x98\x80", "\uFFFD😀"},
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"\xC0\xAF\xC2", "\uFFFD\uFFFD\uFFFD"},
      {"\xF1\x80\x80\xE1\x80\xC2z", "\uFFFD\uFFFD\uFFFDz"},
      {"é日😀", "é日😀"},
  };
  for (const auto& [bytes, expected] : kCases) EXPECT_EQ(ReplaceInvalid(bytes), expected);
}

TEST(Utf8Test, ValidPrefix) {
  EXPECT_EQ(ValidUtf8Prefix(""), 0u);
  EXPECT_EQ(ValidUtf8Prefix("0123456789abcdef"), 16u);
  EXPECT_EQ(ValidUtf8Prefix("01234567é\xFF"), 10u);
  EXPECT_EQ(ValidUtf8Prefix("0123456\xE6\x97"), 7u);
}

TEST(StreamDecoderTest, WaitsForTheRestOfACharacter) {
  const auto tokenizer = MakeTokenizer(SmallBpe());
  StreamDecoder decoder(**tokenizer);  // ids 0 to 255 are the bytes
  EXPECT_EQ(decoder.Add(0xF0), "");
  EXPECT_EQ(decoder.Add(0x9F), "");
  EXPECT_EQ(decoder.Add(0x98), "");
  EXPECT_EQ(decoder.Add(0x80), "😀");
  EXPECT_EQ(decoder.Add(0xE6), "");
  EXPECT_EQ(decoder.Add('a'), "\uFFFDa");
  EXPECT_EQ(decoder.Add(0xC3), "");
  EXPECT_EQ(decoder.Finish(), "\uFFFD");
  EXPECT_EQ(decoder.Finish(), "");
  EXPECT_EQ(decoder.Add('b'), "b");
}

void ExpectSameAsWhole(const Tokenizer& tokenizer, std::mt19937_64& random, int first, int count) {
  StreamDecoder decoder(tokenizer);
  std::vector<TokenId> tokens;
  std::string streamed;
  for (int length = static_cast<int>(random() % 50); length > 0; --length) {
    tokens.push_back(first + static_cast<TokenId>(random() % count));
    const std::string text = decoder.Add(tokens.back());
    ASSERT_EQ(ValidUtf8Prefix(text), text.size());
    streamed += text;
  }
  streamed += decoder.Finish();
  EXPECT_EQ(streamed, ReplaceInvalid(tokenizer.Decode(tokens)));
}

TEST(StreamDecoderTest, SumOfPartsIsTheWhole) {
  const auto tiny = TinyTokenizer(), small = *MakeTokenizer(SmallBpe());
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    ExpectSameAsWhole(*tiny, random, 0, tiny->vocab_size());
    ExpectSameAsWhole(*small, random, 0, small->vocab_size());
    ExpectSameAsWhole(*small, random, 0x80, 0x80);  // lead and continuation bytes only
  }
}

}  // namespace
}  // namespace forerun
