#include "experiments/report/loops.h"

#include <algorithm>

namespace forerun {

int64_t LoopTokens(std::span<const TokenId> text) {
  const auto size = static_cast<int64_t>(text.size());
  int64_t longest = 0;
  for (int64_t period = 1; period <= std::min<int64_t>(kLongestLoop, size / kFewestLoopTurns); ++period) {
    int64_t repeated = 0;  // tokens that equal the one a period before
    while (repeated < size - period && text[size - 1 - repeated] == text[size - 1 - repeated - period])
      ++repeated;
    const int64_t tokens = repeated + period;
    if (tokens >= kFewestLoopTurns * period && tokens >= kFewestLoopTokens)
      longest = std::max(longest, tokens);
  }
  return longest;
}

}  // namespace forerun
