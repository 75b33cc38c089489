#include "experiments/texts/corpus_texts.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "drafters/lookup/corpus_file.h"
#include "experiments/base/files.h"

namespace forerun {
namespace {

constexpr std::size_t kPartBytes = 1 << 20;
constexpr std::size_t kMostTokens = std::size_t{1} << 31;

absl::Status AddTextsOf(const Json& json, const std::string& where, std::vector<std::string>* texts) {
  for (const char* key : {"text", "prompt", "turns"}) {
    if (!json.is_object() || !json.contains(key)) continue;
    const Json& member = json[key];
    const Json list = member.is_array() && key == absl::string_view("turns") ? member : Json::array({member});
    for (const Json& text : list) {
      if (!text.is_string())
        return absl::InvalidArgumentError(
            absl::StrCat(where, ".", key, ": expected text, found ", DumpJson(text)));
      texts->push_back(text.get<std::string>());
    }
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": expected an object with \"text\", \"prompt\" or \"turns\""));
}

// The end of a part that starts at `start`: where a line starts with a letter, no tokenizer joins across.
std::size_t EndOfPart(const std::string& text, std::size_t start) {
  if (text.size() - start <= kPartBytes) return text.size();
  for (std::size_t end = start + kPartBytes; end < text.size(); ++end) {
    if (text[end - 1] == '\n' && absl::ascii_isalpha(static_cast<unsigned char>(text[end]))) return end;
  }
  return text.size();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadTexts(const std::string& path) {
  FORERUN_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  std::vector<std::string> texts;
  if (!absl::EndsWith(path, ".jsonl")) {
    texts.push_back(std::move(text));
    return texts;
  }
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    const std::string where = absl::StrCat(path, ":", number);
    FORERUN_ASSIGN_OR_RETURN(const Json json, ParseJson(line, where));
    FORERUN_RETURN_IF_ERROR(AddTextsOf(json, where, &texts));
  }
  return texts;
}

absl::StatusOr<std::vector<TokenId>> EncodeTexts(const std::vector<std::string>& texts,
                                                 const Tokenizer& tokenizer,
                                                 const std::function<void(double)>& progress) {
  double total = 0, done = 0;
  for (const std::string& text : texts) total += static_cast<double>(text.size());
  std::vector<TokenId> tokens;
  for (const std::string& text : texts) {
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = EndOfPart(text, start);
      FORERUN_ASSIGN_OR_RETURN(
          const std::vector<TokenId> ids,
          tokenizer.Encode(absl::string_view(text).substr(start, end - start), EncodeOptions{}));
      tokens.insert(tokens.end(), ids.begin(), ids.end());
      done += static_cast<double>(end - start);
      start = end;
      progress(done / total);
    }
    if (!tokens.empty() && tokens.back() != kTextEnd) tokens.push_back(kTextEnd);
    if (tokens.size() > kMostTokens) {
      return absl::InvalidArgumentError(
          absl::StrCat("corpus: expected at most ", kMostTokens, " tokens, found more"));
    }
  }
  return tokens;
}

}  // namespace forerun
