// Chat templates are programs (Jinja) in the file; three families are recognised from that text and written
// here by hand. Anything else is an error that names --chat-template.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tokenizer/tokenizer.h"

namespace forerun {

enum class ChatTemplate { kChatMl, kGemma, kLlama3 };

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

// `name`: "auto" (from the file's own template), "chatml", "gemma", "llama3".
absl::StatusOr<ChatTemplate> ChooseChatTemplate(absl::string_view name, const Tokenizer& tokenizer);

// The prompt's ids, ending where the assistant's answer begins. Special tokens come from the template only:
// text that looks like one inside a message stays text. The file's own default system message is used where
// it has one.
absl::StatusOr<std::vector<TokenId>> EncodeChat(ChatTemplate chat, const Tokenizer& tokenizer,
                                                const std::vector<ChatMessage>& messages);

}  // namespace forerun
