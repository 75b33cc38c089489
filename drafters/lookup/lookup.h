// Prompt lookup: where the last words of a text occurred before. The search behind `ngram` and `cascade`.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "core/base/types.h"

namespace forerun {

inline constexpr int kLongestNgram = 64;

struct LookupRange {
  int least = 1;  // words that must match
  int most = 3;   // longer matches are not told apart
};
// "min" and "max" of `reader`, whose place in the config is `where`.
absl::StatusOr<LookupRange> ReadLookupRange(ObjectReader& reader, absl::string_view where, LookupRange range);

struct LookupMatch {
  int length = 0;  // words that match; 0: none
  int end = 0;     // index of the token after the match
};

// The longest match, the latest among equally long ones. One backward scan.
LookupMatch FindLatestMatch(std::span<const TokenId> text, const LookupRange& range);
// What followed the match, at most `most` tokens.
std::span<const TokenId> Continuation(std::span<const TokenId> text, const LookupMatch& match, int most);
// What followed the places that match as many words as `latest`, FindLatestMatch()'s: at most `paths`
// continuations, the latest first, none of them the beginning of another.
std::vector<std::span<const TokenId>> Continuations(std::span<const TokenId> text, const LookupMatch& latest,
                                                    int most, int paths);

}  // namespace forerun
