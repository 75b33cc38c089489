#include "core/tokenizer/chat_prompt.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace forerun {

void ChatPrompt::Bos() {
  if (tokenizer_.bos() >= 0) ids_.push_back(tokenizer_.bos());
}

void ChatPrompt::EncodeText() {
  if (text_.empty() || !status_.ok()) return;
  const absl::StatusOr<std::vector<TokenId>> ids = tokenizer_.Encode(text_, {});
  text_.clear();
  if (!ids.ok()) {
    status_ = ids.status();
    return;
  }
  ids_.insert(ids_.end(), ids->begin(), ids->end());
}

void ChatPrompt::Marker(absl::string_view marker) {
  EncodeText();
  if (!status_.ok()) return;
  const absl::StatusOr<std::vector<TokenId>> ids = tokenizer_.Encode(marker, {.parse_special = true});
  if (!ids.ok() || ids->size() != 1) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat(tokenizer_.source(), ": expected the chat template's ", marker,
                     " among the tokens, found none: another --chat-template may fit this model"));
    return;
  }
  ids_.push_back(ids->front());
}

absl::StatusOr<std::vector<TokenId>> ChatPrompt::Finish() {
  EncodeText();
  if (!status_.ok()) return status_;
  return std::move(ids_);
}

}  // namespace forerun
