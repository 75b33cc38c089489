// Files that describe their tokenizer wrongly: each is one line that names the file, the key and what is
// wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/tokenizer_files.h"

namespace forerun {
namespace {

::testing::AssertionResult Says(const absl::Status& status, absl::string_view key, absl::string_view part) {
  const absl::string_view message = status.message();
  if (status.ok()) return ::testing::AssertionFailure() << "accepted";
  if (!absl::StartsWith(message, "bad.gguf: ") || !absl::StrContains(message, key) ||
      !absl::StrContains(message, part) || absl::StrContains(message, "\n")) {
    return ::testing::AssertionFailure() << status;
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult Rejects(const TokenizerSpec& spec, absl::string_view key, absl::string_view part) {
  return Says(MakeTokenizer(spec, "bad.gguf").status(), key, part);
}

TEST(TokenizerBadFileTest, TheSmallOnesAreGood) {
  EXPECT_TRUE(MakeTokenizer(SmallBpe()).ok());
  EXPECT_TRUE(MakeTokenizer(SmallSpm()).ok());
}

TEST(TokenizerBadFileTest, NoTokenizer) {
  const std::string bytes = GgufBuilder().String("general.architecture", "llama").Build();
  const auto file = GgufFile::FromBytes("bad.gguf", AsBytes(bytes));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(Says(Tokenizer::FromGguf(*file).status(), "tokenizer.ggml.model", "no tokenizer"));
}

TEST(TokenizerBadFileTest, UnsupportedKinds) {
  TokenizerSpec spec = SmallBpe();
  spec.model = "bert";
  EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.model", "\"gpt2\" (byte-level BPE) or \"llama\""));
  spec = SmallBpe();
  for (const char* pre : {"", "tekken", "gpt-2 "}) {
    spec.pre = pre;
    EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.pre",
                        "gpt-2, gpt2, default, qwen2, smollm, llama-bpe, llama3, llama-v3"));
  }
}

TEST(TokenizerBadFileTest, NoTokens) {
  TokenizerSpec spec = SmallBpe();
  spec.tokens.clear();
  EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.tokens", ""));
}

TEST(TokenizerBadFileTest, ListsOfAnotherLength) {
  for (const int change : {-1, 1}) {
    TokenizerSpec spec = SmallSpm();
    spec.types.resize(spec.types.size() + change, kNormalType);
    EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.token_type", "one for each token"));
    spec = SmallSpm();
    spec.scores.resize(spec.scores.size() + change);
    EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.scores", "one for each token"));
  }
}

TEST(TokenizerBadFileTest, MissingLists) {
  TokenizerSpec spec = SmallSpm();
  spec.scores.clear();
  EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.scores", ""));
  spec = SmallBpe();
  spec.merges.clear();
  EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.merges", ""));
}

// Lists of the right length whose elements are of another type.
TEST(TokenizerBadFileTest, ListsOfAnotherType) {
  const auto status = [](const GgufBuilder& file) {
    const std::string bytes = file.Build();
    return Tokenizer::FromGguf(GgufFile::FromBytes("bad.gguf", AsBytes(bytes)).value()).status();
  };
  const auto start = [] {
    return GgufBuilder().String("tokenizer.ggml.model", "llama").Strings("tokenizer.ggml.tokens", {"a", "b"});
  };
  EXPECT_TRUE(
      status(start().Floats("tokenizer.ggml.scores", {0, 0}).Ints("tokenizer.ggml.token_type", {1, 1})).ok());
  EXPECT_TRUE(Says(status(start().Ints("tokenizer.ggml.scores", {0, 0})), "tokenizer.ggml.scores", ""));
  EXPECT_TRUE(
      Says(status(start().Floats("tokenizer.ggml.token_type", {1, 1})), "tokenizer.ggml.token_type", ""));
  EXPECT_TRUE(Says(status(GgufBuilder()
                              .String("tokenizer.ggml.model", "llama")
                              .Floats("tokenizer.ggml.scores", {0})
                              .Ints("tokenizer.ggml.tokens", {1})),
                   "tokenizer.ggml.tokens", ""));
}

TEST(TokenizerBadFileTest, Types) {
  for (const int type : {-1, 7, 1 << 30}) {
    TokenizerSpec spec = SmallBpe();
    spec.types[17] = type;
    EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.token_type", "token 17"));
  }
}

TEST(TokenizerBadFileTest, Scores) {
  TokenizerSpec spec = SmallSpm();
  spec.scores[5] = std::nanf("");
  EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.scores", "token 5"));
}

TEST(TokenizerBadFileTest, ByteTokens) {
  for (const char* text :
       {"<0xZZ>", "<0x-1>", "<0x1>", "<0x111>", "<0x4 >", "0x41", "", "<0X41>", "<0x\n1>"}) {
    TokenizerSpec spec = SmallSpm();
    spec.tokens[3] = text;
    EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.tokens", "byte token 3")) << text;
  }
}

TEST(TokenizerBadFileTest, Merges) {
  for (const char* merge : {"he", "", " ", " a", "h ", "h zz", "zz h", "h x", "h e l", "<|im_start|> a"}) {
    TokenizerSpec spec = SmallBpe();
    spec.merges[2] = merge;
    EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.merges", "merge 2 ")) << merge;
  }
}

TEST(TokenizerBadFileTest, SpecialIds) {
  for (const uint32_t id : {1u << 20, 0xFFFFFFFFu, static_cast<uint32_t>(SmallBpe().tokens.size())}) {
    TokenizerSpec spec = SmallBpe();
    spec.bos = id;
    EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.bos_token_id", "expected an id below"));
    spec = SmallBpe();
    spec.eos = id;
    EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.eos_token_id", "expected an id below"));
  }
  TokenizerSpec spec = SmallBpe();
  spec.adds_bos = true;
  EXPECT_TRUE(Rejects(spec, "tokenizer.ggml.add_bos_token", "no such token"));
}

// Published files repeat texts: the lowest id speaks for the text, and both ids decode.
TEST(TokenizerBadFileTest, RepeatedTextIsAccepted) {
  TokenizerSpec spec = SmallBpe();
  const TokenId again = spec.Add("a", kNormalType);
  const auto tokenizer = MakeTokenizer(spec);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->Encode("a", {}).value(), std::vector<TokenId>{'a'});
  EXPECT_EQ((*tokenizer)->TokenBytes(again), "a");
}

}  // namespace
}  // namespace forerun
