// An automaton cannot forget: where room is needed, half is dropped and the rest read again, so that a token
// is read twice on average.
#include "drafters/lookup/learned_texts.h"

#include <algorithm>

namespace forerun {

void LearnedTexts::Add(std::span<const TokenId> text) {
  text = text.last(std::min(text.size(), static_cast<std::size_t>(most_)));
  if (text.empty()) return;
  const int64_t size = static_cast<int64_t>(text.size());
  if (tokens_ + size > most_) {
    while (!texts_.empty() && tokens_ + size > most_ / 2) {
      tokens_ -= static_cast<int64_t>(texts_.front().size());
      texts_.pop_front();
    }
    automaton_.Clear();
    for (const std::vector<TokenId>& kept : texts_) {
      for (const TokenId token : kept) automaton_.Append(token);
      automaton_.EndText();
    }
  }
  tokens_ += size;
  texts_.emplace_back(text.begin(), text.end());
  for (const TokenId token : text) automaton_.Append(token);
  automaton_.EndText();
}

}  // namespace forerun
