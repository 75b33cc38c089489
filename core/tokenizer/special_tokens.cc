#include "core/tokenizer/special_tokens.h"

namespace forerun {

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) {
  roots_.fill(-1);
  for (TokenId token = 0; token < vocabulary.size(); ++token) {
    const TokenType type = vocabulary.Type(token);
    const bool always = type == TokenType::kUserDefined;
    if (always || type == TokenType::kControl || type == TokenType::kUnknown) {
      Insert(vocabulary.Text(token), token, always);
    }
  }
}

int32_t SpecialTokens::FindChild(int32_t first_child, uint8_t byte) const {
  int32_t child = first_child;
  while (child >= 0 && nodes_[child].byte != byte) child = nodes_[child].next_sibling;
  return child;
}

void SpecialTokens::Insert(absl::string_view text, TokenId token, bool always) {
  int32_t node = -1;
  for (const char c : text) {
    const uint8_t byte = static_cast<uint8_t>(c);
    const int32_t first = node < 0 ? roots_[byte] : nodes_[node].first_child;
    int32_t child = FindChild(first, byte);
    if (child < 0) {
      child = static_cast<int32_t>(nodes_.size());
      nodes_.push_back({.byte = byte, .next_sibling = first});
      (node < 0 ? roots_[byte] : nodes_[node].first_child) = child;
    }
    node = child;
  }
  if (node < 0 || nodes_[node].token >= 0) return;  // empty text, or a repeated one: the lowest id stays
  nodes_[node].token = token;
  nodes_[node].always = always;
  any_always_ = any_always_ || always;
}

std::optional<SpecialTokens::Match> SpecialTokens::LongestAt(absl::string_view text, std::size_t begin,
                                                             bool parse_special) const {
  std::optional<Match> longest;
  int32_t node = roots_[static_cast<uint8_t>(text[begin])];
  for (std::size_t end = begin + 1; node >= 0; ++end) {
    const Node& here = nodes_[node];
    if (here.token >= 0 && (parse_special || here.always)) longest = Match{begin, end - begin, here.token};
    if (end == text.size()) break;
    node = FindChild(here.first_child, static_cast<uint8_t>(text[end]));
  }
  return longest;
}

std::optional<SpecialTokens::Match> SpecialTokens::FindNext(absl::string_view text, std::size_t from,
                                                            bool parse_special) const {
  if (!parse_special && !any_always_) return std::nullopt;
  for (std::size_t begin = from; begin < text.size(); ++begin) {
    if (roots_[static_cast<uint8_t>(text[begin])] < 0) continue;
    if (const auto match = LongestAt(text, begin, parse_special)) return match;
  }
  return std::nullopt;
}

}  // namespace forerun
