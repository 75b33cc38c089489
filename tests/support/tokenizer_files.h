// Tokenizers for tests: small ones written out here, and the one of the tiny pair in tests/data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/tokenizer/tokenizer.h"
#include "tests/support/gguf_builder.h"

namespace forerun {

// What a file says about its tokenizer; an empty list or text writes no key.
struct TokenizerSpec {
  std::string model = "gpt2";
  std::string pre = "gpt-2";
  std::vector<std::string> tokens;
  std::vector<int32_t> types;
  std::vector<float> scores;
  std::vector<std::string> merges;
  std::optional<uint32_t> bos, eos;
  std::optional<bool> adds_bos, adds_space;
  std::string chat_template;

  // Appends a token and returns its id.
  TokenId Add(const std::string& text, int32_t type, float score = 0);
};

inline constexpr int32_t kNormalType = 1, kUnknownType = 2, kControlType = 3, kUserDefinedType = 4,
                         kByteType = 6;

// Ids 0 to 255 are the bytes; then a few merged words; then the control tokens of all chat templates.
TokenizerSpec SmallBpe();
// "<unk>" 0, "<s>" 1, "</s>" 2, the byte tokens from 3, then "▁", letters and a few words.
TokenizerSpec SmallSpm();

// Its keys, each where `spec` has it.
void AddTokenizer(const TokenizerSpec& spec, GgufBuilder& file);

// The file lives only as long as the call.
absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(const TokenizerSpec& spec,
                                                         absl::string_view path = "test.gguf");

// 4,096 words of byte-level BPE, pre-tokenizer gpt-2.
std::unique_ptr<Tokenizer> TinyTokenizer();
// models/<name>.gguf; null where it has not been fetched.
std::unique_ptr<Tokenizer> DownloadedTokenizer(const std::string& name);

// Text of several scripts, spaces, digits and (where `any_bytes`) bytes that are not UTF-8.
std::string RandomText(std::mt19937_64& random, bool any_bytes);

}  // namespace forerun
