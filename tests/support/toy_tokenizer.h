// A tokenizer of a few one-letter words, for toy models: 'a' is 0, 'b' is 1 and so on; other characters are
// skipped.
#pragma once

#include <string>
#include <vector>

#include "core/tokenizer/tokenizer.h"

namespace forerun {

class ToyTokenizer final : public Tokenizer {
 public:
  explicit ToyTokenizer(int vocab_size) {
    for (int i = 0; i < vocab_size; ++i) words_.push_back(std::string(1, static_cast<char>('a' + i)));
  }
  absl::StatusOr<std::vector<TokenId>> Encode(absl::string_view text, const EncodeOptions&) const override {
    std::vector<TokenId> ids;
    for (const char letter : text) {
      if (letter >= 'a' && letter < 'a' + vocab_size()) ids.push_back(letter - 'a');
    }
    return ids;
  }
  std::string TokenBytes(TokenId token, bool) const override { return words_[token]; }
  absl::string_view TokenText(TokenId token) const override { return words_[token]; }
  int vocab_size() const override { return static_cast<int>(words_.size()); }
  TokenId bos() const override { return -1; }
  bool adds_bos() const override { return false; }
  std::span<const TokenId> end_tokens() const override { return {}; }
  bool IsControl(TokenId) const override { return false; }
  const std::string& chat_template() const override { return no_template_; }

 private:
  std::vector<std::string> words_;
  std::string no_template_;
};

}  // namespace forerun
