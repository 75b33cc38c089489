// Small models run into loops at temperature 0, and a loop is easy to draft: a table must say how much of its
// text is one.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/types.h"

namespace forerun {

inline constexpr int kLongestLoop = 64;       // tokens of one turn
inline constexpr int kFewestLoopTurns = 3;    // whole turns, the first included
inline constexpr int kFewestLoopTokens = 24;  // of all turns together

// Tokens at the end of `text` that go round in a loop: the longest suffix that repeats itself with some
// period of at most kLongestLoop, if it has enough turns and tokens; else 0.
int64_t LoopTokens(std::span<const TokenId> text);

}  // namespace forerun
