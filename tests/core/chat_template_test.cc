// Prompts against what Jinja made of the models' own templates (tests/golden/chat.json).
#include "core/tokenizer/chat_template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/base/json.h"
#include "core/tokenizer/chat_prompt.h"
#include "tests/support/tokenizer_files.h"

namespace forerun {
namespace {

constexpr char kChatMlTemplate[] = "{{ '<|im_start|>' + message.role }}";
constexpr char kGemmaTemplate[] = "<start_of_turn>";
constexpr char kLlama3Template[] = "<|start_header_id|>";

std::unique_ptr<Tokenizer> WithTemplate(const std::string& chat_template, const std::string& bos = "") {
  TokenizerSpec spec = SmallBpe();
  spec.chat_template = chat_template;
  const auto found = std::find(spec.tokens.begin(), spec.tokens.end(), bos);
  if (found != spec.tokens.end()) spec.bos = static_cast<uint32_t>(found - spec.tokens.begin());
  return *MakeTokenizer(spec);
}

std::string Prompt(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages) {
  const auto chat = ChooseChatTemplate("auto", tokenizer);
  if (!chat.ok()) return std::string(chat.status().message());
  const auto ids = EncodeChat(*chat, tokenizer, messages);
  return ids.ok() ? tokenizer.Decode(*ids, true) : std::string(ids.status().message());
}

std::vector<ChatMessage> Messages(const Json& json) {
  std::vector<ChatMessage> messages;
  for (const Json& message : json) messages.push_back({message["role"], message["content"]});
  return messages;
}

TEST(ChatTemplateTest, SameAsJinja) {
  const auto golden = ReadJsonFile(FORERUN_SOURCE_DIR "/tests/golden/chat.json");
  ASSERT_TRUE(golden.ok()) << golden.status();
  ASSERT_EQ(golden->size(), 6u);
  for (const Json& entry : *golden) {
    const auto tokenizer = WithTemplate(entry["template"], entry["bos"]);
    const auto chat = ChooseChatTemplate("auto", *tokenizer);
    ASSERT_TRUE(chat.ok()) << chat.status();
    for (const Json& conversation : entry["chats"]) {
      const std::string prompt = conversation["prompt"];
      const auto ids = EncodeChat(*chat, *tokenizer, Messages(conversation["messages"]));
      ASSERT_TRUE(ids.ok()) << ids.status();
      EXPECT_EQ(tokenizer->Decode(*ids, true), prompt) << entry["name"];
      EXPECT_EQ(*ids, tokenizer->Encode(prompt, {.parse_special = true}).value()) << entry["name"];
    }
  }
}

class DownloadedChatTest : public ::testing::TestWithParam<const char*> {};

TEST_P(DownloadedChatTest, DefaultSystemMessageAndTurns) {
  const auto tokenizer = DownloadedTokenizer(GetParam());
  if (tokenizer == nullptr) GTEST_SKIP() << "models/" << GetParam() << ".gguf has not been fetched";
  const std::string prompt = Prompt(*tokenizer, {{"user", "\nhi 12"}, {"assistant", " ok "}, {"user", ""}});
  EXPECT_TRUE(absl::StartsWith(prompt, "<|im_start|>system\nYou are ")) << prompt;
  EXPECT_TRUE(absl::EndsWith(prompt,
                             "<|im_end|>\n<|im_start|>user\n\nhi 12<|im_end|>\n<|im_start|>assistant\n ok "
                             "<|im_end|>\n<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n"))
      << prompt;
}

INSTANTIATE_TEST_SUITE_P(Models, DownloadedChatTest,
                         ::testing::Values("smollm2-135m-instruct-q4_1",
                                           "qwen2.5-coder-0.5b-instruct-q4_k_m"));

TEST(ChatTemplateTest, GemmaHasNoTemplateButItsTokens) {
  const auto tokenizer = DownloadedTokenizer("gemma-3-270m-q4_k_m");
  if (tokenizer == nullptr) GTEST_SKIP() << "models/gemma-3-270m-q4_k_m.gguf has not been fetched";
  EXPECT_FALSE(ChooseChatTemplate("auto", *tokenizer).ok());
  const auto ids =
      EncodeChat(ChatTemplate::kGemma, *tokenizer, {{"system", "Be brief."}, {"user", " hi\n\n\tyou "}});
  ASSERT_TRUE(ids.ok()) << ids.status();
  const std::string prompt =
      "<bos><start_of_turn>user\nBe brief.\n\nhi\n\n\tyou<end_of_turn>\n<start_of_turn>model\n";
  EXPECT_EQ(*ids, tokenizer->Encode(prompt, {.parse_special = true}).value());
  EXPECT_EQ(tokenizer->Decode(*ids, true), prompt);
}

TEST(ChatTemplateTest, TextNeverBecomesAMarker) {
  for (const char* chat_template : {kChatMlTemplate, kGemmaTemplate, kLlama3Template}) {
    const auto tokenizer = WithTemplate(chat_template);
    const auto chat = ChooseChatTemplate("auto", *tokenizer);
    ASSERT_TRUE(chat.ok());
    const auto markers = [&](const std::string& text) {
      const auto ids = EncodeChat(*chat, *tokenizer, {{"user", text}});
      EXPECT_TRUE(ids.ok()) << ids.status();
      return std::count_if(ids->begin(), ids->end(), [&](TokenId id) { return tokenizer->IsControl(id); });
    };
    EXPECT_EQ(markers("<|im_end|><end_of_turn><|eot_id|><bos><|endoftext|>"), markers("hello"));
  }
}

TEST(ChatTemplateTest, Choice) {
  const auto none = WithTemplate("");
  EXPECT_EQ(ChooseChatTemplate("chatml", *none).value(), ChatTemplate::kChatMl);
  EXPECT_EQ(ChooseChatTemplate("gemma", *none).value(), ChatTemplate::kGemma);
  EXPECT_EQ(ChooseChatTemplate("llama3", *none).value(), ChatTemplate::kLlama3);
  EXPECT_EQ(ChooseChatTemplate("auto", *WithTemplate(kChatMlTemplate)).value(), ChatTemplate::kChatMl);
  EXPECT_EQ(ChooseChatTemplate("gemma", *WithTemplate(kChatMlTemplate)).value(), ChatTemplate::kGemma);
  for (const auto& [name, chat_template] : {std::pair<const char*, const char*>{"auto", ""},
                                            {"auto", "[INST] {{ message }}"},
                                            {"vicuna", kChatMlTemplate},
                                            {"", kChatMlTemplate}}) {
    const absl::Status status = ChooseChatTemplate(name, *WithTemplate(chat_template)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(status.message(), "--chat-template")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "chatml, gemma or llama3")) << status;
  }
}

TEST(ChatTemplateTest, MarkersMustBeTokens) {
  TokenizerSpec spec = SmallBpe();
  for (std::string& token : spec.tokens) {
    if (token == "<|im_end|>") token = "<|gone|>";
  }
  spec.chat_template = kChatMlTemplate;
  const std::string message = Prompt(**MakeTokenizer(spec, "some.gguf"), {{"user", "hello"}});
  EXPECT_TRUE(absl::StartsWith(message, "some.gguf: ")) << message;
  EXPECT_TRUE(absl::StrContains(message, "<|im_end|>")) << message;
}

TEST(ChatTemplateTest, BadConversations) {
  const auto chatml = WithTemplate(kChatMlTemplate), gemma = WithTemplate(kGemmaTemplate);
  EXPECT_TRUE(absl::StrContains(Prompt(*chatml, {}), "at least one message"));
  EXPECT_TRUE(absl::StrContains(Prompt(*chatml, {{"tool", "x"}}), "found \"tool\""));
  EXPECT_TRUE(absl::StrContains(Prompt(*gemma, {{"system", "x"}}), "a system message only"));
  EXPECT_TRUE(absl::StrContains(Prompt(*gemma, {{"assistant", "x"}}), "in turns"));
  EXPECT_TRUE(absl::StrContains(Prompt(*gemma, {{"user", "x"}, {"user", "y"}}), "in turns"));
  EXPECT_TRUE(absl::StrContains(Prompt(*gemma, {{"user", "x"}, {"system", "y"}}), "in turns"));
}

TEST(ChatTemplateTest, DefaultSystemMessage) {
  EXPECT_EQ(DefaultSystemMessage(""), "");
  EXPECT_EQ(DefaultSystemMessage("{{ '<|im_start|>system\\nHi<|im_end|>\\n' }}"), "Hi");
  EXPECT_EQ(DefaultSystemMessage("{{ \"<|im_start|>system\\nIt's\\\\<|im_end|>\" }}"), "It's\\");
  EXPECT_EQ(DefaultSystemMessage("{% if x %}<|im_start|>system\nHi\nyou<|im_end|>\n{% endif %}"), "Hi\nyou");
  EXPECT_EQ(DefaultSystemMessage("{{ '<|im_start|>system\\n' + content + '<|im_end|>' }}"), "");
  EXPECT_EQ(DefaultSystemMessage("<|im_start|>system\n{{ content }}<|im_end|>"), "");
  EXPECT_EQ(DefaultSystemMessage("{{ '<|im_start|>system\\nnever closed"), "");
  EXPECT_EQ(DefaultSystemMessage("<|im_start|>system"), "");
}

}  // namespace
}  // namespace forerun
