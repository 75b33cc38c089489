// Checks of option values whose messages say what was expected and what was found, in whole digits.
#pragma once

#include <cstdint>

#include "CLI/CLI.hpp"

namespace forerun {

inline constexpr int kMostThreads = 256;
inline constexpr int kMostMib = 1 << 20;
inline constexpr int kMostRows = 512;         // of one forward
inline constexpr int kMostContext = 1 << 20;  // the model's own says less
inline constexpr int kMostNewTokens = 1 << 20;

CLI::Validator IntegerFrom(int64_t least, int64_t most);
CLI::Validator MoreThanZeroUpTo(double most);  // refuses what is no number, too
CLI::Validator NotEmpty();

}  // namespace forerun
