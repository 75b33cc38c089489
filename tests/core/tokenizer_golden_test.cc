// Ids and word cuts that independent tokenizers gave for the same texts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/json.h"
#include "core/tokenizer/pre_tokenizer.h"
#include "tests/support/tokenizer_files.h"

namespace forerun {
namespace {

Json Golden(absl::string_view file) {
  const auto json = ReadJsonFile(absl::StrCat(FORERUN_SOURCE_DIR "/tests/golden/", file));
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? *json : Json::object();
}

void ExpectGoldenIds(const Tokenizer& tokenizer, const std::string& name) {
  const Json golden = Golden("tokenizer.json");
  ASSERT_TRUE(golden.contains(name));
  ASSERT_GE(golden[name].size(), 50u);
  for (const Json& entry : golden[name]) {
    const std::string text = entry["text"];
    const std::vector<TokenId> expected = entry["ids"];
    const auto ids = tokenizer.Encode(text, {.parse_special = true});
    ASSERT_TRUE(ids.ok()) << ids.status();
    EXPECT_EQ(*ids, expected) << text;
    EXPECT_EQ(tokenizer.Decode(*ids, true), text);
  }
}

TEST(TokenizerGoldenTest, TinyPython) { ExpectGoldenIds(*TinyTokenizer(), "tiny-python"); }

struct Downloaded {
  const char* file;
  const char* golden;
};

class DownloadedTokenizerTest : public ::testing::TestWithParam<Downloaded> {};

TEST_P(DownloadedTokenizerTest, GoldenIds) {
  const auto tokenizer = DownloadedTokenizer(GetParam().file);
  if (tokenizer == nullptr) GTEST_SKIP() << "models/" << GetParam().file << ".gguf has not been fetched";
  ExpectGoldenIds(*tokenizer, GetParam().golden);
}

INSTANTIATE_TEST_SUITE_P(
    Models, DownloadedTokenizerTest,
    ::testing::Values(Downloaded{"smollm2-135m-instruct-q4_1", "smollm2-135m-instruct-q4_1"},
                      Downloaded{"qwen2.5-coder-0.5b-instruct-q4_k_m", "qwen2.5-coder-0.5b-instruct-q4_k_m"},
                      Downloaded{"qwen2.5-coder-1.5b-instruct-q4_k_m", "qwen2.5-coder-0.5b-instruct-q4_k_m"},
                      Downloaded{"gemma-3-270m-q4_k_m", "gemma-3-270m-q4_k_m"}));

class PreTokenizerTest : public ::testing::TestWithParam<const char*> {};

TEST_P(PreTokenizerTest, GoldenPieces) {
  const auto pre_tokenizer = PreTokenizer::Create(GetParam());
  ASSERT_TRUE(pre_tokenizer.ok());
  const Json golden = Golden("pre_tokenizer.json");
  ASSERT_GE(golden[GetParam()].size(), 50u);
  for (const Json& entry : golden[GetParam()]) {
    const std::string text = entry["text"];
    const std::vector<std::string> expected = entry["pieces"];
    std::vector<absl::string_view> pieces;
    ASSERT_TRUE(pre_tokenizer->Split(text, pieces).ok());
    EXPECT_EQ(std::vector<std::string>(pieces.begin(), pieces.end()), expected) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Expressions, PreTokenizerTest,
                         ::testing::Values("gpt-2", "smollm", "qwen2", "llama-bpe"));

}  // namespace
}  // namespace forerun
