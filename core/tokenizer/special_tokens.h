// Finds the tokens that stand in a text literally, before any merging: a trie over their bytes. The leftmost
// match wins, and of several there the longest. Linear in the text for tokens of bounded length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/tokenizer/vocabulary.h"

namespace forerun {

class SpecialTokens {
 public:
  struct Match {
    std::size_t begin;
    std::size_t size;
    TokenId token;
  };

  // Control and unknown tokens match on request only, user-defined tokens always.
  explicit SpecialTokens(const Vocabulary& vocabulary);

  // The first match at or after `from`.
  std::optional<Match> FindNext(absl::string_view text, std::size_t from, bool parse_special) const;

 private:
  struct Node {
    uint8_t byte = 0;
    bool always = false;
    TokenId token = -1;        // -1: no token ends here
    int32_t first_child = -1;  // -1: none
    int32_t next_sibling = -1;
  };

  void Insert(absl::string_view text, TokenId token, bool always);
  int32_t FindChild(int32_t first_child, uint8_t byte) const;
  std::optional<Match> LongestAt(absl::string_view text, std::size_t begin, bool parse_special) const;

  std::vector<Node> nodes_;
  std::array<int32_t, 256> roots_;  // by first byte
  bool any_always_ = false;
};

}  // namespace forerun
