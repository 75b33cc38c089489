#include "core/tokenizer/vocabulary_tokenizer.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {

absl::StatusOr<std::vector<TokenId>> VocabularyTokenizer::Encode(absl::string_view text,
                                                                 const EncodeOptions& options) const {
  // Positions are 32-bit, and a space may grow to three bytes.
  constexpr std::size_t kMaxBytes = std::numeric_limits<int32_t>::max() / 4;
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("text to encode: expected at most ", kMaxBytes, " bytes, found ", text.size()));
  }
  std::vector<TokenId> ids;
  if (options.add_special && settings_.adds_bos) ids.push_back(settings_.bos);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto match = special_tokens_.FindNext(text, begin, options.parse_special);
    const std::size_t end = match ? match->begin : text.size();
    if (end > begin) FORERUN_RETURN_IF_ERROR(EncodeStretch(text.substr(begin, end - begin), ids));
    begin = end;
    if (match) {
      ids.push_back(match->token);
      begin += match->size;
    }
  }
  if (options.add_special && settings_.adds_eos) ids.push_back(settings_.eos);
  return ids;
}

std::string VocabularyTokenizer::TokenBytes(TokenId token, bool with_special) const {
  switch (vocabulary_.Type(token)) {
    case TokenType::kControl:
    case TokenType::kUnknown:
    case TokenType::kUnused:
      return with_special ? std::string(TokenText(token)) : std::string();
    case TokenType::kByte:
      return std::string(1, static_cast<char>(*ParseByteToken(TokenText(token))));
    case TokenType::kUserDefined:
      return std::string(TokenText(token));
    case TokenType::kUndefined:
    case TokenType::kNormal:
      break;
  }
  return NormalBytes(token);
}

}  // namespace forerun
