#include "core/tokenizer/chat_template.h"

#include <array>
#include <span>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tokenizer/chat_prompt.h"

namespace forerun {
namespace {

struct KnownTemplate {
  absl::string_view name;
  absl::string_view marker;  // found in every template of the family, and in no other's
  ChatTemplate chat;
};

constexpr std::array<KnownTemplate, 3> kKnown = {{{"chatml", "<|im_start|>", ChatTemplate::kChatMl},
                                                  {"gemma", "<start_of_turn>", ChatTemplate::kGemma},
                                                  {"llama3", "<|start_header_id|>", ChatTemplate::kLlama3}}};
constexpr char kChoices[] = "chatml, gemma or llama3";

absl::Status CheckMessages(const std::vector<ChatMessage>& messages) {
  if (messages.empty()) return absl::InvalidArgumentError("chat: expected at least one message, found none");
  for (const ChatMessage& message : messages) {
    if (message.role == "system" || message.role == "user" || message.role == "assistant") continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "chat: expected a role system, user or assistant, found \"", absl::CHexEscape(message.role), "\""));
  }
  return absl::OkStatus();
}

void WriteChatMl(const std::vector<ChatMessage>& messages, const Tokenizer& tokenizer, ChatPrompt& prompt) {
  const auto turn = [&prompt](absl::string_view role, absl::string_view content) {
    prompt.Marker("<|im_start|>");
    prompt.Text(absl::StrCat(role, "\n", content));
    prompt.Marker("<|im_end|>");
    prompt.Text("\n");
  };
  const std::string default_system = DefaultSystemMessage(tokenizer.chat_template());
  if (messages[0].role != "system" && !default_system.empty()) turn("system", default_system);
  for (const ChatMessage& message : messages) turn(message.role, message.content);
  prompt.Marker("<|im_start|>");
  prompt.Text("assistant\n");
}

// No system turn: a system message opens the first user turn. Turns must alternate, as in Gemma's own
// template.
absl::Status WriteGemma(const std::vector<ChatMessage>& messages, ChatPrompt& prompt) {
  std::span<const ChatMessage> turns = messages;
  std::string opening;
  if (messages[0].role == "system") {
    opening = absl::StrCat(messages[0].content, "\n\n");
    turns = turns.subspan(1);
  }
  if (turns.empty())
    return absl::InvalidArgumentError("chat: expected a user message, found a system message only");
  prompt.Bos();
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const absl::string_view expected = i % 2 == 0 ? "user" : "assistant";
    if (turns[i].role != expected) {
      return absl::InvalidArgumentError(absl::StrCat("chat: expected user and assistant in turns, found ",
                                                     turns[i].role, " as message ", i + 1));
    }
    prompt.Marker("<start_of_turn>");
    prompt.Text(absl::StrCat(i % 2 == 0 ? "user" : "model", "\n", i == 0 ? opening : "",
                             TrimUnicode(turns[i].content)));
    prompt.Marker("<end_of_turn>");
    prompt.Text("\n");
  }
  prompt.Marker("<start_of_turn>");
  prompt.Text("model\n");
  return absl::OkStatus();
}

void WriteLlama3(const std::vector<ChatMessage>& messages, ChatPrompt& prompt) {
  const auto header = [&prompt](absl::string_view role) {
    prompt.Marker("<|start_header_id|>");
    prompt.Text(role);
    prompt.Marker("<|end_header_id|>");
    prompt.Text("\n\n");
  };
  prompt.Bos();
  for (const ChatMessage& message : messages) {
    header(message.role);
    prompt.Text(TrimUnicode(message.content));
    prompt.Marker("<|eot_id|>");
  }
  header("assistant");
}

}  // namespace

absl::StatusOr<ChatTemplate> ChooseChatTemplate(absl::string_view name, const Tokenizer& tokenizer) {
  for (const KnownTemplate& known : kKnown) {
    if (name == known.name) return known.chat;
  }
  if (name != "auto") {
    return absl::InvalidArgumentError(absl::StrCat("--chat-template: expected auto, ", kChoices, ", found \"",
                                                   absl::CHexEscape(name), "\""));
  }
  for (const KnownTemplate& known : kKnown) {
    if (absl::StrContains(tokenizer.chat_template(), known.marker)) return known.chat;
  }
  const absl::string_view found = tokenizer.chat_template().empty() ? "none" : "one of another kind";
  return absl::InvalidArgumentError(
      absl::StrCat(tokenizer.source(), ": tokenizer.chat_template: expected a known chat template, found ",
                   found, ": choose with --chat-template ", kChoices));
}

absl::StatusOr<std::vector<TokenId>> EncodeChat(ChatTemplate chat, const Tokenizer& tokenizer,
                                                const std::vector<ChatMessage>& messages) {
  FORERUN_RETURN_IF_ERROR(CheckMessages(messages));
  ChatPrompt prompt(tokenizer);
  switch (chat) {
    case ChatTemplate::kChatMl:
      WriteChatMl(messages, tokenizer, prompt);
      break;
    case ChatTemplate::kGemma:
      FORERUN_RETURN_IF_ERROR(WriteGemma(messages, prompt));
      break;
    case ChatTemplate::kLlama3:
      WriteLlama3(messages, prompt);
      break;
  }
  return prompt.Finish();
}

}  // namespace forerun
