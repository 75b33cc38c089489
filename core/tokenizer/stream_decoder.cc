// A character can be spread over several tokens; its first bytes wait until the rest has come or cannot come.
#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/utf8.h"

namespace forerun {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

std::string StreamDecoder::Add(TokenId token) {
  pending_ += tokenizer_.TokenBytes(token);
  std::string complete;
  absl::string_view rest = pending_;
  while (!rest.empty()) {
    const Utf8Step step = StepUtf8(rest);
    if (step.kind == Utf8Kind::kUnfinished) break;
    if (step.kind == Utf8Kind::kValid) {
      complete.append(rest.data(), step.size);
    } else {
      complete += kReplacement;
    }
    rest.remove_prefix(step.size);
  }
  pending_ = std::string(rest);
  return complete;
}

std::string StreamDecoder::Finish() {
  const bool unfinished = !pending_.empty();
  pending_.clear();
  return unfinished ? kReplacement : "";
}

}  // namespace forerun
