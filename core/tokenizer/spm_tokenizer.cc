#include "core/tokenizer/spm_tokenizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "core/base/status_macros.h"
#include "core/tokenizer/utf8.h"

namespace forerun {
namespace {

constexpr absl::string_view kSpace = "\xE2\x96\x81";  // "▁", U+2581
constexpr char kScoresKey[] = "tokenizer.ggml.scores";

absl::StatusOr<std::vector<float>> ReadScores(const GgufFile& file, const Vocabulary& vocabulary) {
  FORERUN_ASSIGN_OR_RETURN(std::vector<float> scores, file.GetFloats(kScoresKey));
  if (scores.size() != static_cast<std::size_t>(vocabulary.size())) {
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", kScoresKey, ": expected ",
                                                   vocabulary.size(), " values, one for each token, found ",
                                                   scores.size()));
  }
  for (std::size_t token = 0; token < scores.size(); ++token) {
    if (!std::isnan(scores[token])) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(), ": ", kScoresKey, ": token ", token, ": expected a number, found NaN"));
  }
  return scores;
}

TokenId FindUnknown(const Vocabulary& vocabulary) {
  for (TokenId token = 0; token < vocabulary.size(); ++token) {
    if (vocabulary.Type(token) == TokenType::kUnknown) return token;
  }
  return -1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> SpmTokenizer::FromGguf(const GgufFile& file) {
  FORERUN_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::FromGguf(file));
  FORERUN_ASSIGN_OR_RETURN(std::vector<float> scores, ReadScores(file, vocabulary));
  FORERUN_ASSIGN_OR_RETURN(TokenizerSettings settings, ReadTokenizerSettings(file, vocabulary, true));
  FORERUN_ASSIGN_OR_RETURN(const bool adds_space, file.GetBoolOr("tokenizer.ggml.add_space_prefix", true));
  const TokenId unknown = FindUnknown(vocabulary);
  return std::unique_ptr<Tokenizer>(
      new SpmTokenizer(std::move(vocabulary), std::move(settings), std::move(scores), adds_space, unknown));
}

SpmTokenizer::SpmTokenizer(Vocabulary vocabulary, TokenizerSettings settings, std::vector<float> scores,
                           bool adds_space, TokenId unknown)
    : VocabularyTokenizer(std::move(vocabulary), std::move(settings)),
      scores_(std::move(scores)),
      adds_space_(adds_space),
      unknown_(unknown) {
  byte_tokens_.fill(-1);
  for (TokenId token = 0; token < this->vocabulary().size(); ++token) {
    const absl::string_view text = this->vocabulary().Text(token);
    if (this->vocabulary().Type(token) == TokenType::kByte) {
      TokenId& byte_token = byte_tokens_[*ParseByteToken(text)];
      if (byte_token < 0) byte_token = token;
    }
    for (std::size_t at = text.find(kSpace, 1); at < text.size(); at = text.find(kSpace, at + 1)) {
      joins_space_[static_cast<uint8_t>(text[at - 1])] = true;
    }
  }
}

absl::Status SpmTokenizer::EncodeStretch(absl::string_view text, std::vector<TokenId>& ids) const {
  const std::string escaped =
      absl::StrReplaceAll(adds_space_ ? absl::StrCat(" ", text) : std::string(text), {{" ", kSpace}});
  absl::string_view rest = escaped;
  MergeQueue queue;
  while (!rest.empty()) {
    const std::size_t size = ChunkSize(rest);
    FORERUN_RETURN_IF_ERROR(EncodeChunk(rest.substr(0, size), queue, ids));
    rest.remove_prefix(size);
  }
  return absl::OkStatus();
}

// Up to a "▁" that no token has after such a character: nothing can merge across, so the parts may be encoded
// apart.
std::size_t SpmTokenizer::ChunkSize(absl::string_view text) const {
  std::size_t at = text.find(kSpace, 1);
  while (at < text.size() && joins_space_[static_cast<uint8_t>(text[at - 1])]) at = text.find(kSpace, at + 1);
  return std::min(at, text.size());
}

absl::Status SpmTokenizer::EncodeChunk(absl::string_view chunk, MergeQueue& queue,
                                       std::vector<TokenId>& ids) const {
  queue.Clear();
  for (std::size_t begin = 0; begin < chunk.size();) {
    const int size = StepUtf8(chunk.substr(begin)).size;
    queue.Append(static_cast<int32_t>(begin), size, vocabulary().Find(chunk.substr(begin, size)));
    begin += size;
  }
  queue.Run([this, chunk](const MergeSymbol& left, const MergeSymbol& right) -> std::optional<MergeResult> {
    const TokenId token = vocabulary().Find(chunk.substr(left.begin, left.size + right.size));
    if (token < 0) return std::nullopt;
    return MergeResult{-static_cast<double>(scores_[token]), token};
  });
  for (int32_t i = 0; i >= 0; i = queue.symbols[i].next) {
    const MergeSymbol& symbol = queue.symbols[i];
    if (symbol.token >= 0) {
      ids.push_back(symbol.token);
    } else {
      FORERUN_RETURN_IF_ERROR(AppendBytes(chunk.substr(symbol.begin, symbol.size), ids));
    }
  }
  return absl::OkStatus();
}

absl::Status SpmTokenizer::AppendBytes(absl::string_view character, std::vector<TokenId>& ids) const {
  for (const char c : character) {
    const uint8_t byte = static_cast<uint8_t>(c);
    const TokenId token = byte_tokens_[byte] >= 0 ? byte_tokens_[byte] : unknown_;
    if (token < 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("text to encode: the vocabulary has no token for byte 0x%02X", byte));
    }
    ids.push_back(token);
  }
  return absl::OkStatus();
}

std::string SpmTokenizer::NormalBytes(TokenId token) const {
  return absl::StrReplaceAll(vocabulary().Text(token), {{kSpace, " "}});
}

}  // namespace forerun
