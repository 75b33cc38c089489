#include "core/tokenizer/vocabulary.h"

#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

constexpr char kTokensKey[] = "tokenizer.ggml.tokens";
constexpr char kTypesKey[] = "tokenizer.ggml.token_type";

bool OrdinaryTextMayBecome(TokenType type) {
  return type != TokenType::kControl && type != TokenType::kUnknown && type != TokenType::kByte;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

absl::StatusOr<Vocabulary> Vocabulary::FromGguf(const GgufFile& file) {
  FORERUN_ASSIGN_OR_RETURN(const std::vector<absl::string_view> tokens, file.GetStrings(kTokensKey));
  if (tokens.empty() || tokens.size() > std::numeric_limits<TokenId>::max()) {
    return absl::InvalidArgumentError(absl::StrCat(
        file.path(), ": ", kTokensKey, ": expected 1 to 2147483647 tokens, found ", tokens.size()));
  }
  Vocabulary vocabulary;
  std::size_t bytes = 0;
  for (absl::string_view token : tokens) bytes += token.size();
  vocabulary.texts_.reserve(bytes);
  vocabulary.begins_.reserve(tokens.size() + 1);
  for (absl::string_view token : tokens) {
    vocabulary.begins_.push_back(vocabulary.texts_.size());
    vocabulary.texts_.insert(vocabulary.texts_.end(), token.begin(), token.end());
  }
  vocabulary.begins_.push_back(bytes);
  vocabulary.types_.assign(tokens.size(), TokenType::kNormal);
  FORERUN_RETURN_IF_ERROR(vocabulary.ReadTypes(file));

  vocabulary.ids_.reserve(tokens.size());
  for (TokenId token = 0; token < vocabulary.size(); ++token) {
    if (OrdinaryTextMayBecome(vocabulary.Type(token)))
      vocabulary.ids_.try_emplace(vocabulary.Text(token), token);
  }
  return vocabulary;
}

absl::Status Vocabulary::ReadTypes(const GgufFile& file) {
  if (!file.Has(kTypesKey)) return absl::OkStatus();
  FORERUN_ASSIGN_OR_RETURN(const std::vector<int32_t> types, file.GetInts(kTypesKey));
  if (types.size() != types_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", kTypesKey, ": expected ", types_.size(),
                                                   " values, one for each token, found ", types.size()));
  }
  for (TokenId token = 0; token < size(); ++token) {
    if (types[token] < 0 || types[token] > static_cast<int32_t>(TokenType::kByte)) {
      return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", kTypesKey, ": token ", token,
                                                     ": expected a type from 0 to 6, found ", types[token]));
    }
    types_[token] = static_cast<TokenType>(types[token]);
    if (types_[token] == TokenType::kByte && !ParseByteToken(Text(token))) {
      return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", kTokensKey, ": byte token ", token,
                                                     ": expected \"<0x00>\" to \"<0xFF>\", found \"",
                                                     absl::CHexEscape(Text(token)), "\""));
    }
  }
  return absl::OkStatus();
}

absl::string_view Vocabulary::Text(TokenId token) const {
  FORERUN_CHECK(token >= 0 && token < size());
  return {texts_.data() + begins_[token], begins_[token + 1] - begins_[token]};
}

TokenType Vocabulary::Type(TokenId token) const {
  FORERUN_CHECK(token >= 0 && token < size());
  return types_[token];
}

TokenId Vocabulary::Find(absl::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? -1 : found->second;
}

std::optional<uint8_t> ParseByteToken(absl::string_view text) {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return std::nullopt;
  const int high = HexDigit(text[3]), low = HexDigit(text[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<uint8_t>(high * 16 + low);
}

}  // namespace forerun
