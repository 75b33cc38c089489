#include "core/engine/stop_checker.h"

#include <algorithm>

#include "core/tokenizer/tokenizer.h"

namespace forerun {

const char* FinishReasonName(FinishReason reason) {
  switch (reason) {
    case FinishReason::kEndToken:
      return "end_token";
    case FinishReason::kStopString:
      return "stop_string";
    case FinishReason::kMaxTokens:
      return "max_tokens";
    case FinishReason::kContextEnd:
      return "context_end";
    case FinishReason::kError:
      return "error";
  }
  return "unknown";
}

std::optional<FinishReason> StopChecker::Add(TokenId token) {
  ++emitted_;
  const auto& ends = request_.end_tokens;
  if (std::find(ends.begin(), ends.end(), token) != ends.end()) return FinishReason::kEndToken;
  if (CompletesStopString(token)) return FinishReason::kStopString;
  if (emitted_ >= max_tokens_) return context_limited_ ? FinishReason::kContextEnd : FinishReason::kMaxTokens;
  return std::nullopt;
}

bool StopChecker::CompletesStopString(TokenId token) {
  if (request_.stop_strings.empty()) return false;
  const std::size_t before = text_.size();
  text_ += request_.tokenizer->TokenBytes(token);
  for (const std::string& stop : request_.stop_strings) {
    const std::size_t from = before < stop.size() ? 0 : before - stop.size() + 1;
    if (text_.find(stop, from) != std::string::npos) return true;
  }
  return false;
}

}  // namespace forerun
