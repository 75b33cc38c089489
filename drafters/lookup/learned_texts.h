// What earlier requests wrote, in one automaton: kept across requests, the oldest forgotten first.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "drafters/lookup/suffix_automaton.h"

namespace forerun {

class LearnedTexts {
 public:
  // Never more than `most` tokens.
  explicit LearnedTexts(int64_t most) : most_(most) {}
  // Of a longer text the end is kept.
  void Add(std::span<const TokenId> text);
  const SuffixAutomaton& automaton() const { return automaton_; }

 private:
  int64_t most_;
  int64_t tokens_ = 0;
  std::deque<std::vector<TokenId>> texts_;
  SuffixAutomaton automaton_;
};

}  // namespace forerun
