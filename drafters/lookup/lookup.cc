#include "drafters/lookup/lookup.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {

absl::StatusOr<LookupRange> ReadLookupRange(ObjectReader& reader, absl::string_view where,
                                            LookupRange range) {
  range.least = static_cast<int>(reader.Int("min", range.least, 1, kLongestNgram));
  range.most = static_cast<int>(reader.Int("max", range.most, 1, kLongestNgram));
  if (range.least <= range.most) return range;
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": expected min <= max, found min ", range.least, " and max ", range.most));
}

LookupMatch FindLatestMatch(std::span<const TokenId> text, const LookupRange& range) {
  const int size = static_cast<int>(text.size());
  LookupMatch best;
  int beaten = range.least - 1;  // a match must be longer
  for (int end = size - 1; end > beaten && beaten < range.most; --end) {
    int length = 0;
    while (length < range.most && length < end && text[end - 1 - length] == text[size - 1 - length]) ++length;
    if (length > beaten) {
      beaten = length;
      best = {length, end};
    }
  }
  return best;
}

std::span<const TokenId> Continuation(std::span<const TokenId> text, const LookupMatch& match, int most) {
  if (match.length == 0) return {};
  const std::span<const TokenId> rest = text.subspan(match.end);
  return rest.first(std::min<std::size_t>(rest.size(), static_cast<std::size_t>(std::max(most, 0))));
}

std::vector<std::span<const TokenId>> Continuations(std::span<const TokenId> text, const LookupMatch& latest,
                                                    int most, int paths) {
  std::vector<std::span<const TokenId>> found;
  if (latest.length == 0 || most <= 0) return found;
  const std::span<const TokenId> words = text.last(latest.length);
  for (int end = latest.end; end >= latest.length && static_cast<int>(found.size()) < paths; --end) {
    if (!std::equal(words.begin(), words.end(), text.begin() + (end - latest.length))) continue;
    const std::span<const TokenId> next = Continuation(text, {latest.length, end}, most);
    const auto begins = [&](std::span<const TokenId> a, std::span<const TokenId> b) {
      return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
    };
    const auto same = std::find_if(found.begin(), found.end(), [&](std::span<const TokenId> path) {
      return begins(path, next) || begins(next, path);
    });
    if (same == found.end()) {
      found.push_back(next);
    } else if (next.size() > same->size()) {
      *same = next;
    }
  }
  return found;
}

}  // namespace forerun
