// When a generation ends: after an end token, once a stop string is complete, or at its length limit.
#pragma once

#include <optional>
#include <string>

#include "core/engine/request.h"

namespace forerun {

class StopChecker {
 public:
  // `context_limited`: the limit comes from the context's end, not from max_new_tokens.
  StopChecker(const Request& request, int max_tokens, bool context_limited)
      : request_(request), max_tokens_(max_tokens), context_limited_(context_limited) {}

  // Call for each emitted token in order; a reason means that this token was the last.
  std::optional<FinishReason> Add(TokenId token);
  int remaining() const { return max_tokens_ - emitted_; }

 private:
  bool CompletesStopString(TokenId token);

  const Request& request_;
  int max_tokens_;
  bool context_limited_;
  int emitted_ = 0;
  std::string text_;  // bytes emitted, kept only where there are stop strings
};

}  // namespace forerun
