#include "drafters/lookup/ngram_counts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace forerun {

LastWords LastWordsOf(std::span<const TokenId> text, int most) {
  LastWords words;
  words.fill(kTextEnd);
  const std::size_t length = std::min<std::size_t>(text.size(), most);
  std::copy(text.end() - length, text.end(), words.end() - length);
  return words;
}

LastWords Shorter(const LastWords& words, int most) { return LastWordsOf(words, most); }

LastWords Then(const LastWords& words, TokenId next) {
  LastWords moved;
  std::copy(words.begin() + 1, words.end(), moved.begin());
  moved.back() = next;
  return moved;
}

void NgramCounts::Follow(std::span<const TokenId> text) {
  if (text_.size() > text.size() || !std::equal(text_.begin(), text_.end(), text.begin())) {
    text_.clear();
    entries_.clear();
  }
  for (std::size_t end = text_.size(); end < text.size(); ++end) {
    for (int length = 1; length <= longest_ && length <= static_cast<int>(end); ++length) {
      Entry& entry = entries_[LastWordsOf(text.first(end), length)];
      ++entry.total;
      std::vector<CountedToken>& tokens = entry.tokens;
      auto at = std::find_if(tokens.begin(), tokens.end(),
                             [&](const CountedToken& counted) { return counted.token == text[end]; });
      if (at == tokens.end()) at = tokens.insert(at, {text[end], 0});
      ++at->count;
      while (at != tokens.begin() && (at - 1)->count <= at->count) {
        std::iter_swap(at - 1, at);
        --at;
      }
    }
  }
  text_.assign(text.begin(), text.end());
}

CountedTokens NgramCounts::Find(const LastWords& words) const {
  const auto found = entries_.find(words);
  if (found == entries_.end()) return {};
  return {found->second.total, found->second.tokens};
}

}  // namespace forerun
