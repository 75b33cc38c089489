// Builds a chat prompt from markers, which are special tokens, and text, which never becomes one.
// Neighbouring text is encoded together, as if the whole prompt had been one string.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tokenizer/tokenizer.h"

namespace forerun {

class ChatPrompt {
 public:
  explicit ChatPrompt(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void Bos();  // nothing where the file has none
  void Marker(absl::string_view marker);
  void Text(absl::string_view text) { text_.append(text.data(), text.size()); }

  // InvalidArgument where a marker is no token of the vocabulary or a text could not be encoded.
  absl::StatusOr<std::vector<TokenId>> Finish();

 private:
  void EncodeText();

  const Tokenizer& tokenizer_;
  std::string text_;  // since the last marker
  std::vector<TokenId> ids_;
  absl::Status status_;  // the first failure
};

// The system message that a ChatML template's text gives where a conversation has none: the literal from
// "<|im_start|>system\n" to "<|im_end|>". Empty: no such literal.
std::string DefaultSystemMessage(absl::string_view chat_template);

// Without white space at both ends, as Jinja's `trim` sees it (Python's str.strip).
absl::string_view TrimUnicode(absl::string_view text);

}  // namespace forerun
