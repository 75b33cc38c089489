#include "core/tokenizer/bpe_tokenizer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/tokenizer/byte_level.h"

namespace forerun {
namespace {

constexpr char kPreKey[] = "tokenizer.ggml.pre";

absl::StatusOr<PreTokenizer> ReadPreTokenizer(const GgufFile& file) {
  std::string name;
  if (file.Has(kPreKey)) {
    FORERUN_ASSIGN_OR_RETURN(name, file.GetString(kPreKey));
  }
  absl::StatusOr<PreTokenizer> made = PreTokenizer::Create(name);
  if (!made.ok()) return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", made.status().message()));
  return made;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> BpeTokenizer::FromGguf(const GgufFile& file) {
  FORERUN_ASSIGN_OR_RETURN(PreTokenizer pre_tokenizer, ReadPreTokenizer(file));
  FORERUN_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::FromGguf(file));
  FORERUN_ASSIGN_OR_RETURN(TokenizerSettings settings,
                           ReadTokenizerSettings(file, vocabulary, pre_tokenizer.adds_bos()));
  FORERUN_ASSIGN_OR_RETURN(MergeTable merges, MergeTable::FromGguf(file, vocabulary));
  return std::unique_ptr<Tokenizer>(new BpeTokenizer(std::move(vocabulary), std::move(settings),
                                                     std::move(merges), std::move(pre_tokenizer)));
}

BpeTokenizer::BpeTokenizer(Vocabulary vocabulary, TokenizerSettings settings, MergeTable merges,
                           PreTokenizer pre_tokenizer)
    : VocabularyTokenizer(std::move(vocabulary), std::move(settings)),
      merges_(std::move(merges)),
      pre_tokenizer_(std::move(pre_tokenizer)) {
  for (int byte = 0; byte < 256; ++byte) {
    byte_tokens_[byte] = this->vocabulary().Find(ByteSymbol(static_cast<uint8_t>(byte)));
  }
}

absl::Status BpeTokenizer::EncodeStretch(absl::string_view text, std::vector<TokenId>& ids) const {
  std::vector<absl::string_view> words;
  FORERUN_RETURN_IF_ERROR(pre_tokenizer_.Split(text, words));
  MergeQueue queue;
  for (absl::string_view word : words) FORERUN_RETURN_IF_ERROR(EncodeWord(word, queue, ids));
  return absl::OkStatus();
}

absl::Status BpeTokenizer::EncodeWord(absl::string_view word, MergeQueue& queue,
                                      std::vector<TokenId>& ids) const {
  if (pre_tokenizer_.whole_words()) {
    std::string symbols;
    for (const char c : word) absl::StrAppend(&symbols, ByteSymbol(static_cast<uint8_t>(c)));
    if (const TokenId token = vocabulary().Find(symbols); token >= 0) {
      ids.push_back(token);
      return absl::OkStatus();
    }
  }
  queue.Clear();
  for (std::size_t i = 0; i < word.size(); ++i) {
    const uint8_t byte = static_cast<uint8_t>(word[i]);
    if (byte_tokens_[byte] < 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("text to encode: the vocabulary has no token for byte 0x%02X", byte));
    }
    queue.Append(static_cast<int32_t>(i), 1, byte_tokens_[byte]);
  }
  queue.Run([this](const MergeSymbol& left, const MergeSymbol& right) -> std::optional<MergeResult> {
    const auto merge = merges_.Find(left.token, right.token);
    if (!merge) return std::nullopt;
    return MergeResult{static_cast<double>(merge->rank), merge->token};
  });
  for (int32_t i = 0; i >= 0; i = queue.symbols[i].next) ids.push_back(queue.symbols[i].token);
  return absl::OkStatus();
}

std::string BpeTokenizer::NormalBytes(TokenId token) const {
  return BytesOfSymbols(vocabulary().Text(token));
}

}  // namespace forerun
