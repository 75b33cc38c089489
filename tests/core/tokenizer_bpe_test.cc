#include <gtest/gtest.h>

#include <climits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/tokenizer/byte_level.h"
#include "core/tokenizer/pre_tokenizer.h"
#include "tests/support/tokenizer_files.h"

namespace forerun {
namespace {

TEST(BpeTokenizerTest, AnyBytesComeBack) {
  const auto tokenizer = TinyTokenizer();
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = RandomText(random, i % 2 == 1);
    for (const bool parse_special : {false, true}) {
      const auto ids = tokenizer->Encode(text, {.parse_special = parse_special});
      ASSERT_TRUE(ids.ok()) << ids.status();
      ASSERT_EQ(tokenizer->Decode(*ids, true), text);
    }
  }
}

TEST(BpeTokenizerTest, EveryByteAlone) {
  const auto tokenizer = TinyTokenizer();
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    const auto ids = tokenizer->Encode(text, {});
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(ids->size(), 1u);
    EXPECT_EQ(tokenizer->Decode(*ids), text);
  }
}

// The definition: again and again, join the lowest-ranked neighbouring pair, the leftmost of equals.
std::vector<std::string> MergeNaively(const std::vector<std::string>& merges, absl::string_view word) {
  std::map<std::string, int> rank;
  for (const std::string& merge : merges) rank.emplace(merge, static_cast<int>(rank.size()));
  std::vector<std::string> symbols;
  for (const char c : word) symbols.emplace_back(ByteSymbol(static_cast<uint8_t>(c)));
  while (true) {
    int best = INT_MAX;
    std::size_t where = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = rank.find(absl::StrCat(symbols[i], " ", symbols[i + 1]));
      if (found != rank.end() && found->second < best) best = found->second, where = i;
    }
    if (best == INT_MAX) return symbols;
    symbols[where] += symbols[where + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

// Merges of random pairs over a small alphabet, so that words are full of overlapping choices.
TEST(BpeTokenizerTest, MergesLikeTheDefinition) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 40; ++trial) {
    TokenizerSpec spec;
    for (int byte = 0; byte < 256; ++byte) {
      spec.Add(std::string(ByteSymbol(static_cast<uint8_t>(byte))), kNormalType);
    }
    std::vector<std::string> parts = {"a", "b", "c"};
    for (int i = 0; i < 12; ++i) {
      const std::string left = parts[random() % parts.size()], right = parts[random() % parts.size()];
      spec.merges.push_back(absl::StrCat(left, " ", right));
      parts.push_back(left + right);
      spec.Add(left + right, kNormalType);
    }
    const auto tokenizer = MakeTokenizer(spec);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    for (int i = 0; i < 50; ++i) {
      std::string word(random() % 40, 'a');
      for (char& c : word) c = static_cast<char>('a' + random() % 3);
      const auto ids = (*tokenizer)->Encode(word, {});
      ASSERT_TRUE(ids.ok());
      std::vector<std::string> texts;
      for (const TokenId id : *ids) texts.emplace_back((*tokenizer)->TokenText(id));
      EXPECT_EQ(texts, MergeNaively(spec.merges, word))
          << word << " with " << absl::StrJoin(spec.merges, ", ");
    }
  }
}

// A quadratic merge would take minutes here.
TEST(BpeTokenizerTest, LongRunsStayFast) {
  const auto tokenizer = TinyTokenizer();
  for (const char* unit : {"a", " ", "\n", "ab", "é", "\xFF", "1"}) {
    std::string text;
    while (text.size() < 300'000) text += unit;
    const auto ids = tokenizer->Encode(text, {});
    ASSERT_TRUE(ids.ok()) << ids.status();
    EXPECT_EQ(tokenizer->Decode(*ids), text);
  }
}

TEST(BpeTokenizerTest, SpecialTokens) {
  const auto tokenizer = MakeTokenizer(SmallBpe());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const std::string text = "hello<|im_end|><tool>";
  const auto parsed = (*tokenizer)->Encode(text, {.parse_special = true});
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->size(), 3u);
  EXPECT_EQ((*tokenizer)->TokenText((*parsed)[1]), "<|im_end|>");
  EXPECT_TRUE((*tokenizer)->IsControl((*parsed)[1]));
  EXPECT_FALSE((*tokenizer)->IsControl((*parsed)[2]));
  EXPECT_EQ((*tokenizer)->Decode(*parsed), "hello<tool>");
  EXPECT_EQ((*tokenizer)->Decode(*parsed, true), text);

  const auto plain = (*tokenizer)->Encode(text, {});
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->size(), 1u + 10u + 1u);  // the user-defined token is one in any case
  for (const TokenId id : *plain) EXPECT_FALSE((*tokenizer)->IsControl(id));
  EXPECT_EQ((*tokenizer)->Decode(*plain), text);
}

// The longest of several matches wins, and a shorter one is still found where the longer breaks off.
TEST(BpeTokenizerTest, OverlappingSpecialTokens) {
  TokenizerSpec spec = SmallBpe();
  const TokenId one = spec.Add("<x>", kControlType), two = spec.Add("<x><x>y", kControlType);
  const auto tokenizer = MakeTokenizer(spec);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ((*tokenizer)->Encode("<x><x>y<x><x>", {.parse_special = true}).value(),
            (std::vector<TokenId>{two, one, one}));
}

TEST(BpeTokenizerTest, AddsBosWhereTheFileSays) {
  TokenizerSpec spec = SmallBpe();
  spec.bos = 263;
  EXPECT_EQ((*MakeTokenizer(spec))->Encode("hello", {.add_special = true})->size(), 1u);
  spec.pre = "llama-bpe";
  EXPECT_EQ((*MakeTokenizer(spec))->Encode("hello", {.add_special = true})->front(), 263);
  spec.adds_bos = false;
  EXPECT_EQ((*MakeTokenizer(spec))->Encode("hello", {.add_special = true})->size(), 1u);
  spec.pre = "gpt-2";
  spec.adds_bos = true;
  EXPECT_EQ((*MakeTokenizer(spec))->Encode("hello", {.add_special = true})->front(), 263);
  EXPECT_EQ((*MakeTokenizer(spec))->Encode("hello", {})->size(), 1u);
}

// "er" + "us" has no merge: only Llama 3 takes the word whole.
TEST(BpeTokenizerTest, WholeWordsOfLlama3) {
  TokenizerSpec spec = SmallBpe();
  const TokenId whole = spec.Add("zyx", kNormalType);
  EXPECT_EQ((*MakeTokenizer(spec))->Encode("zyx", {})->size(), 3u);
  spec.pre = "llama3";
  EXPECT_EQ((*MakeTokenizer(spec))->Encode("zyx", {}).value(), std::vector<TokenId>{whole});
}

TEST(BpeTokenizerTest, SaysWhichByteIsMissing) {
  TokenizerSpec spec = SmallBpe();
  spec.tokens[4] = "never";
  const auto ids = (*MakeTokenizer(spec))->Encode("a\x04", {});
  EXPECT_EQ(ids.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(ids.status().message()).find("0x04"), std::string::npos) << ids.status();
}

TEST(BpeTokenizerTest, EndTokens) {
  TokenizerSpec spec = SmallBpe();
  spec.eos = 3;
  const auto tokenizer = MakeTokenizer(spec);
  std::vector<std::string> texts;
  for (const TokenId id : (*tokenizer)->end_tokens()) texts.emplace_back((*tokenizer)->TokenText(id));
  EXPECT_EQ(texts, (std::vector<std::string>{std::string(ByteSymbol(3)), "<|endoftext|>", "<|im_end|>",
                                             "<end_of_turn>", "<|eot_id|>"}));
}

}  // namespace
}  // namespace forerun
