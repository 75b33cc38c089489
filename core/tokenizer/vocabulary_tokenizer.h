// What both kinds of tokenizer share: a vocabulary, special tokens cut out of the text before anything else,
// and what the file says about BOS, EOS and chat. A kind adds how ordinary text becomes tokens and back.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/tokenizer/special_tokens.h"
#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/tokenizer_settings.h"
#include "core/tokenizer/vocabulary.h"

namespace forerun {

class VocabularyTokenizer : public Tokenizer {
 public:
  absl::StatusOr<std::vector<TokenId>> Encode(absl::string_view text,
                                              const EncodeOptions& options) const final;
  std::string TokenBytes(TokenId token, bool with_special) const final;
  absl::string_view TokenText(TokenId token) const final { return vocabulary_.Text(token); }
  int vocab_size() const final { return vocabulary_.size(); }
  TokenId bos() const final { return settings_.bos; }
  bool adds_bos() const final { return settings_.adds_bos; }
  std::span<const TokenId> end_tokens() const final { return settings_.end_tokens; }
  bool IsControl(TokenId token) const final { return vocabulary_.Type(token) == TokenType::kControl; }
  const std::string& chat_template() const final { return settings_.chat_template; }

 protected:
  VocabularyTokenizer(Vocabulary vocabulary, TokenizerSettings settings)
      : vocabulary_(std::move(vocabulary)), settings_(std::move(settings)), special_tokens_(vocabulary_) {}

  // Appends the tokens of text without special tokens in it: a stretch from the text's start or from a
  // special token.
  virtual absl::Status EncodeStretch(absl::string_view text, std::vector<TokenId>& ids) const = 0;
  virtual std::string NormalBytes(TokenId token) const = 0;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
  TokenizerSettings settings_;
  SpecialTokens special_tokens_;
};

}  // namespace forerun
