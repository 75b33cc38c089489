// PCRE2 runs the published expressions, with Unicode classes and JIT. `\s` is spelled out as the Unicode
// property White_Space (PCRE2's own also has U+180E, which the original engines do not).
#include "core/tokenizer/pre_tokenizer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/tokenizer/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace forerun {
namespace {

// ${s} is inside a character class: white space.
constexpr char kGpt2[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^${s}\p{L}\p{N}]+|[${s}]+(?![^${s}])|[${s}]+)";
// GPT-2's within the text between digits, each digit alone. A digit ends the text that the look-ahead sees.
constexpr char kSmolLm[] =
    R"(\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^${s}\p{L}\p{N}]+|[${s}]+(?![^${s}\p{N}])|[${s}]+)";
constexpr char kQwen2[] = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
                          R"(| ?[^${s}\p{L}\p{N}]+[\r\n]*|[${s}]*[\r\n]+|[${s}]+(?![^${s}])|[${s}]+)";
constexpr char kLlama3[] = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
                           R"(| ?[^${s}\p{L}\p{N}]+[\r\n]*|[${s}]*[\r\n]+|[${s}]+(?![^${s}])|[${s}]+)";

struct NamedExpression {
  absl::string_view name;
  const char* expression;
};

constexpr std::array<NamedExpression, 8> kExpressions = {{{"gpt-2", kGpt2},
                                                          {"gpt2", kGpt2},
                                                          {"default", kGpt2},
                                                          {"qwen2", kQwen2},
                                                          {"smollm", kSmolLm},
                                                          {"llama-bpe", kLlama3},
                                                          {"llama3", kLlama3},
                                                          {"llama-v3", kLlama3}}};

std::string Pcre2Message(int error) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(error, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

// The memory of one Split: expressions may be shared by threads, this may not.
struct MatchDeleter {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  void operator()(pcre2_match_context* limits) const { pcre2_match_context_free(limits); }
};
struct Matcher {
  explicit Matcher(const pcre2_code* code) : code(code) {
    FORERUN_CHECK(code != nullptr && match != nullptr && limits != nullptr);
    pcre2_set_match_limit(limits.get(),
                          UINT32_MAX);  // no expression backtracks further than one run of spaces
  }
  const pcre2_code* code;
  std::unique_ptr<pcre2_match_data, MatchDeleter> match{pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_match_context, MatchDeleter> limits{pcre2_match_context_create(nullptr)};
};

absl::Status SplitValid(const Matcher& matcher, absl::string_view text,
                        std::vector<absl::string_view>& pieces) {
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  for (std::size_t begin = 0; begin < text.size();) {
    const int found = pcre2_match(matcher.code, subject, text.size(), begin, PCRE2_NO_UTF_CHECK,
                                  matcher.match.get(), matcher.limits.get());
    if (found < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("text at byte ", begin, " cannot be cut into words: ", Pcre2Message(found)));
    }
    const std::size_t end = pcre2_get_ovector_pointer(matcher.match.get())[1];
    FORERUN_CHECK(end > begin);
    pieces.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace

void PreTokenizer::CodeDeleter::operator()(pcre2_code* code) const { pcre2_code_free(code); }

absl::StatusOr<PreTokenizer> PreTokenizer::Create(absl::string_view name) {
  std::string supported;
  for (const NamedExpression& candidate : kExpressions) {
    absl::StrAppend(&supported, supported.empty() ? "" : ", ", candidate.name);
    if (candidate.name != name) continue;
    const std::string expression =
        absl::StrReplaceAll(candidate.expression, {{"${s}", R"(\t-\r\x{85}\p{Z})"}});
    int error = 0;
    PCRE2_SIZE where = 0;
    pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                                     PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &where, nullptr);
    FORERUN_CHECK(code != nullptr);
    pcre2_jit_compile(code,
                      PCRE2_JIT_COMPLETE);  // where JIT is not allowed, the interpreter does the same, slower
    PreTokenizer made;
    made.code_.reset(code);
    made.llama3_ = candidate.expression == kLlama3;
    return made;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("tokenizer.ggml.pre: expected one of ", supported, "; found \"", name, "\""));
}

absl::Status PreTokenizer::Split(absl::string_view text, std::vector<absl::string_view>& pieces) const {
  const Matcher matcher(code_.get());
  while (!text.empty()) {
    const std::size_t valid = ValidUtf8Prefix(text);
    FORERUN_RETURN_IF_ERROR(SplitValid(matcher, text.substr(0, valid), pieces));
    std::size_t end = valid;
    while (end < text.size()) {
      const Utf8Step step = StepUtf8(text.substr(end));
      if (step.kind == Utf8Kind::kValid) break;
      end += step.size;
    }
    if (end > valid) pieces.push_back(text.substr(valid, end - valid));
    text.remove_prefix(end);
  }
  return absl::OkStatus();
}

}  // namespace forerun
