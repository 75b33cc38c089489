// The two things that a Jinja interpreter would have done for the known templates: read a string literal,
// trim.
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "core/tokenizer/chat_prompt.h"

namespace forerun {
namespace {

// The string literal's value from `begin` up to `end_mark`; nothing where the literal ends before it.
// `quote`: the literal's delimiter, or 0 for template text outside of {{ }}.
std::string LiteralUpTo(absl::string_view source, char quote, absl::string_view end_mark) {
  std::string value;
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (absl::StartsWith(source.substr(at), end_mark)) return value;
    if (quote != 0 && source[at] == quote) return "";
    if (quote == 0 && source[at] == '{') return "";
    const bool escape = quote != 0 && source[at] == '\\' && at + 1 < source.size();
    if (!escape) {
      value.push_back(source[at]);
      continue;
    }
    const char next = source[++at];
    value.push_back(next == 'n' ? '\n' : next == 't' ? '\t' : next);
  }
  return "";
}

// What Python's str.isspace holds for, in UTF-8.
constexpr std::array<absl::string_view, 29> kSpaces = {" ",
                                                       "\t",
                                                       "\n",
                                                       "\v",
                                                       "\f",
                                                       "\r",
                                                       "\x1C",
                                                       "\x1D",
                                                       "\x1E",
                                                       "\x1F",
                                                       "\xC2\x85",
                                                       "\xC2\xA0",
                                                       "\xE1\x9A\x80",
                                                       "\xE2\x80\x80",
                                                       "\xE2\x80\x81",
                                                       "\xE2\x80\x82",
                                                       "\xE2\x80\x83",
                                                       "\xE2\x80\x84",
                                                       "\xE2\x80\x85",
                                                       "\xE2\x80\x86",
                                                       "\xE2\x80\x87",
                                                       "\xE2\x80\x88",
                                                       "\xE2\x80\x89",
                                                       "\xE2\x80\x8A",
                                                       "\xE2\x80\xA8",
                                                       "\xE2\x80\xA9",
                                                       "\xE2\x80\xAF",
                                                       "\xE2\x81\x9F",
                                                       "\xE3\x80\x80"};

}  // namespace

std::string DefaultSystemMessage(absl::string_view chat_template) {
  constexpr absl::string_view kStart = "<|im_start|>system", kEnd = "<|im_end|>";
  for (std::size_t at = chat_template.find(kStart); at != absl::string_view::npos;
       at = chat_template.find(kStart, at + 1)) {
    const char before = at > 0 ? chat_template[at - 1] : '\0';
    const char quote = before == '\'' || before == '"' ? before : '\0';
    absl::string_view literal = chat_template.substr(at + kStart.size());
    if (!absl::ConsumePrefix(&literal, quote == 0 ? "\n" : "\\n") && !absl::ConsumePrefix(&literal, "\n"))
      continue;
    std::string message = LiteralUpTo(literal, quote, kEnd);
    if (!message.empty()) return message;
  }
  return "";
}

absl::string_view TrimUnicode(absl::string_view text) {
  for (bool trimmed = true; trimmed;) {
    trimmed = false;
    for (absl::string_view space : kSpaces) {
      trimmed |= absl::ConsumePrefix(&text, space) || absl::ConsumeSuffix(&text, space);
    }
  }
  return text;
}

}  // namespace forerun
