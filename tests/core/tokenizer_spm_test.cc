#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "tests/support/tokenizer_files.h"

namespace forerun {
namespace {

std::vector<std::string> Texts(const Tokenizer& tokenizer, absl::string_view text,
                               const EncodeOptions& options = {}) {
  const auto ids = tokenizer.Encode(text, options);
  EXPECT_TRUE(ids.ok()) << ids.status();
  std::vector<std::string> texts;
  for (const TokenId id : *ids) texts.emplace_back(tokenizer.TokenText(id));
  return texts;
}

using Strings = std::vector<std::string>;

TEST(SpmTokenizerTest, SpacePrefix) {
  TokenizerSpec spec = SmallSpm();
  EXPECT_EQ(Texts(**MakeTokenizer(spec), "ab c"), (Strings{"▁ab", "▁", "c"}));
  spec.adds_space = false;
  EXPECT_EQ(Texts(**MakeTokenizer(spec), "ab c"), (Strings{"ab", "▁", "c"}));
  EXPECT_EQ(Texts(**MakeTokenizer(spec), ""), Strings{});
}

TEST(SpmTokenizerTest, AddsBosUnlessTheFileSaysNo) {
  TokenizerSpec spec = SmallSpm();
  EXPECT_EQ(Texts(**MakeTokenizer(spec), "ab", {.add_special = true}), (Strings{"<s>", "▁ab"}));
  spec.adds_bos = false;
  EXPECT_EQ(Texts(**MakeTokenizer(spec), "ab", {.add_special = true}), (Strings{"▁ab"}));
}

TEST(SpmTokenizerTest, BytesWhereThereIsNoToken) {
  TokenizerSpec spec = SmallSpm();
  spec.adds_space = false;
  const auto tokenizer = MakeTokenizer(spec);
  EXPECT_EQ(Texts(**tokenizer, "aéb\xFF"), (Strings{"a", "<0xC3>", "<0xA9>", "b", "<0xFF>"}));
  EXPECT_EQ(Texts(**tokenizer, "\n\n\n"), (Strings{"\n\n", "<0x0A>"}));
  EXPECT_EQ((*tokenizer)->Decode((*tokenizer)->Encode("aé b\xFF\n\n\n", {}).value()), "aé b\xFF\n\n\n");
}

TEST(SpmTokenizerTest, UnknownWhereThereAreNoBytes) {
  TokenizerSpec spec = SmallSpm();
  spec.adds_space = false;
  for (int byte = 0; byte < 256; ++byte) spec.types[3 + byte] = kControlType;
  EXPECT_EQ(Texts(**MakeTokenizer(spec), "a!"), (Strings{"a", "<unk>"}));
  spec.types[0] = kControlType;
  EXPECT_EQ((*MakeTokenizer(spec))->Encode("a!", {}).status().code(), absl::StatusCode::kInvalidArgument);
}

// "<s" and ">" could merge into the control token's text; text never becomes a control token.
TEST(SpmTokenizerTest, TextNeverBecomesControl) {
  TokenizerSpec spec = SmallSpm();
  spec.adds_space = false;
  EXPECT_EQ(Texts(**MakeTokenizer(spec), "<s>"), (Strings{"<s", ">"}));
  EXPECT_EQ(Texts(**MakeTokenizer(spec), "<s>", {.parse_special = true}), (Strings{"<s>"}));
  EXPECT_EQ(Texts(**MakeTokenizer(spec), "<0x41>").size(), 6u);
}

TEST(SpmTokenizerTest, AnyBytesComeBack) {
  TokenizerSpec spec = SmallSpm();
  spec.adds_space = false;
  const auto tokenizer = MakeTokenizer(spec);
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = RandomText(random, true);
    const auto ids = (*tokenizer)->Encode(text, {});
    ASSERT_TRUE(ids.ok()) << ids.status();
    ASSERT_EQ((*tokenizer)->Decode(*ids), text);
  }
}

// The definition: again and again, join the pair whose text is the best-scored token, the leftmost of equals.
Strings MergeNaively(const TokenizerSpec& spec, const std::string& text) {
  std::map<std::string, float> score;
  for (std::size_t i = 0; i < spec.tokens.size(); ++i) {
    if (spec.types[i] == kNormalType) score.emplace(spec.tokens[i], spec.scores[i]);
  }
  Strings symbols;
  for (const char c : text) symbols.push_back(c == ' ' ? "▁" : std::string(1, c));
  while (true) {
    const float* best = nullptr;
    std::size_t where = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = score.find(symbols[i] + symbols[i + 1]);
      if (found != score.end() && (best == nullptr || found->second > *best))
        best = &found->second, where = i;
    }
    if (best == nullptr) return symbols;
    symbols[where] += symbols[where + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

// Random tokens, some with spaces inside, and many equal scores: cutting the text at spaces must change
// nothing.
TEST(SpmTokenizerTest, MergesLikeTheDefinition) {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 60; ++trial) {
    TokenizerSpec spec = SmallSpm();
    spec.adds_space = false;
    for (int i = 0; i < 25; ++i) {
      std::string token(2 + random() % 3, 'a');
      for (char& c : token) c = "abc "[random() % (trial % 2 == 0 ? 4 : 3)];
      spec.Add(absl::StrReplaceAll(token, {{" ", "▁"}}), kNormalType, -static_cast<float>(random() % 5));
    }
    const auto tokenizer = MakeTokenizer(spec);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    for (int i = 0; i < 40; ++i) {
      std::string text(random() % 30, 'a');
      for (char& c : text) c = "abc "[random() % 4];
      EXPECT_EQ(Texts(**tokenizer, text), MergeNaively(spec, text)) << text;
    }
  }
}

TEST(SpmTokenizerTest, LongRunsStayFast) {
  TokenizerSpec spec = SmallSpm();
  spec.adds_space = false;
  const auto tokenizer = MakeTokenizer(spec);
  for (const char* unit : {"ab", " ", "\n", "é"}) {
    std::string text;
    while (text.size() < 300'000) text += unit;
    const auto ids = (*tokenizer)->Encode(text, {});
    ASSERT_TRUE(ids.ok()) << ids.status();
    EXPECT_EQ((*tokenizer)->Decode(*ids), text);
  }
}

}  // namespace
}  // namespace forerun
