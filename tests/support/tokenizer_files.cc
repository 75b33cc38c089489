#include "tests/support/tokenizer_files.h"

#include <array>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/tokenizer/byte_level.h"

namespace forerun {
namespace {

std::unique_ptr<Tokenizer> OpenTokenizer(const std::string& path) {
  const auto file = GgufFile::Open(path);
  FORERUN_CHECK(file.ok());
  auto tokenizer = Tokenizer::FromGguf(*file);
  FORERUN_CHECK(tokenizer.ok());
  return *std::move(tokenizer);
}

}  // namespace

TokenId TokenizerSpec::Add(const std::string& text, int32_t type, float score) {
  tokens.push_back(text);
  types.push_back(type);
  if (model == "llama") scores.push_back(score);
  return static_cast<TokenId>(tokens.size()) - 1;
}

TokenizerSpec SmallBpe() {
  TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte) {
    spec.Add(std::string(ByteSymbol(static_cast<uint8_t>(byte))), kNormalType);
  }
  for (const char* merge : {"h e", "l l", "he ll", "hell o", "Ġ a", "u s", "us er"}) {
    spec.merges.push_back(merge);
    std::string text = merge;
    text.erase(text.find(' '), 1);
    if (text == "user") spec.Add("er", kNormalType);
    spec.Add(text, kNormalType);
  }
  for (const char* control :
       {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<bos>", "<start_of_turn>", "<end_of_turn>",
        "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}) {
    spec.Add(control, kControlType);
  }
  spec.Add("<tool>", kUserDefinedType);
  return spec;
}

TokenizerSpec SmallSpm() {
  TokenizerSpec spec;
  spec.model = "llama";
  spec.pre = "default";
  spec.Add("<unk>", kUnknownType);
  spec.Add("<s>", kControlType);
  spec.Add("</s>", kControlType);
  for (int byte = 0; byte < 256; ++byte) spec.Add(absl::StrFormat("<0x%02X>", byte), kByteType);
  for (const char* letter : {"▁", "a", "b", "c", "d", "e", "<", "s", ">"})
    spec.Add(letter, kNormalType, -100);
  spec.Add("ab", kNormalType, -1);
  spec.Add("bc", kNormalType, -2);
  spec.Add("▁a", kNormalType, -3);
  spec.Add("▁ab", kNormalType, -4);
  spec.Add("▁▁", kNormalType, -5);
  spec.Add("<s", kNormalType, -6);
  spec.Add("\n\n", kUserDefinedType);
  spec.bos = 1;
  spec.eos = 2;
  return spec;
}

void AddTokenizer(const TokenizerSpec& spec, GgufBuilder& file) {
  file.String("tokenizer.ggml.model", spec.model);
  if (!spec.pre.empty()) file.String("tokenizer.ggml.pre", spec.pre);
  if (!spec.tokens.empty()) file.Strings("tokenizer.ggml.tokens", spec.tokens);
  if (!spec.types.empty()) file.Ints("tokenizer.ggml.token_type", spec.types);
  if (!spec.scores.empty()) file.Floats("tokenizer.ggml.scores", spec.scores);
  if (!spec.merges.empty()) file.Strings("tokenizer.ggml.merges", spec.merges);
  if (spec.bos) file.U32("tokenizer.ggml.bos_token_id", *spec.bos);
  if (spec.eos) file.U32("tokenizer.ggml.eos_token_id", *spec.eos);
  if (spec.adds_bos) file.Bool("tokenizer.ggml.add_bos_token", *spec.adds_bos);
  if (spec.adds_space) file.Bool("tokenizer.ggml.add_space_prefix", *spec.adds_space);
  if (!spec.chat_template.empty()) file.String("tokenizer.chat_template", spec.chat_template);
}

absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(const TokenizerSpec& spec, absl::string_view path) {
  GgufBuilder builder;
  builder.String("general.architecture", "llama");
  AddTokenizer(spec, builder);
  const std::string bytes = builder.Build();
  FORERUN_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::FromBytes(path, AsBytes(bytes)));
  return Tokenizer::FromGguf(file);
}

std::unique_ptr<Tokenizer> TinyTokenizer() {
  return OpenTokenizer(FORERUN_SOURCE_DIR "/tests/data/tiny-python/tiny-python-target-f16.gguf");
}

std::unique_ptr<Tokenizer> DownloadedTokenizer(const std::string& name) {
  const std::string path = absl::StrCat(FORERUN_SOURCE_DIR "/models/", name, ".gguf");
  return std::ifstream(path).good() ? OpenTokenizer(path) : nullptr;
}

std::string RandomText(std::mt19937_64& random, bool any_bytes) {
  static constexpr std::array<absl::string_view, 20> kParts = {
      " ",  "  ", "\n", "\t",   "\r\n", "x", "The",         "return", "self.", "'s",
      "12", "3",  "é",  "日本", "Ω",    "😀", "👩‍👧", " ",      "…",     "<|endoftext|>"};
  std::string text;
  for (int count = static_cast<int>(random() % 40); count > 0; --count) {
    if (any_bytes && random() % 4 == 0) {
      text.push_back(static_cast<char>(random() % 256));
    } else {
      absl::StrAppend(&text, kParts[random() % kParts.size()]);
    }
  }
  return text;
}

}  // namespace forerun
