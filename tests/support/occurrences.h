// Word sequences in a text, found by scanning it: what every index is compared with.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "core/base/types.h"

namespace forerun {

// Where `words` ends in `text`, ascending.
inline std::vector<int> EndsOf(std::span<const TokenId> words, std::span<const TokenId> text) {
  std::vector<int> ends;
  for (std::size_t end = words.size(); end <= text.size(); ++end) {
    if (std::equal(words.begin(), words.end(), text.begin() + (end - words.size())))
      ends.push_back(static_cast<int>(end));
  }
  return ends;
}

struct Followed {
  TokenId token = 0;
  int count = 0;
  int latest = 0;  // index of its latest occurrence
};

// What follows `words`; negative tokens, which separate texts, do not. Most frequent first, then latest.
inline std::vector<Followed> FollowedBy(std::span<const TokenId> words, std::span<const TokenId> text) {
  std::map<TokenId, Followed> by_token;
  for (const int end : EndsOf(words, text)) {
    if (end == static_cast<int>(text.size()) || text[end] < 0) continue;
    Followed& followed = by_token[text[end]];
    followed = {text[end], followed.count + 1, end};
  }
  std::vector<Followed> sorted;
  for (const auto& [token, followed] : by_token) sorted.push_back(followed);
  std::sort(sorted.begin(), sorted.end(), [](const Followed& a, const Followed& b) {
    return a.count != b.count ? a.count > b.count : a.latest > b.latest;
  });
  return sorted;
}

inline std::vector<TokenId> RandomTokens(std::mt19937& random, int length, int alphabet) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < length; ++i) tokens.push_back(static_cast<TokenId>(random() % alphabet));
  return tokens;
}

}  // namespace forerun
