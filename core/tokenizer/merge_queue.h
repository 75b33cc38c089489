// Both tokenizers merge alike: neighbouring symbols join, best pair first, leftmost first among equals, until
// no pair may join. A heap of candidate pairs over a linked list of symbols: n log n, whatever the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/types.h"

namespace forerun {

struct MergeSymbol {
  int32_t begin = 0;  // bytes, in the text being encoded
  int32_t size = 0;   // 0: joined to an earlier symbol
  TokenId token = -1;
  int32_t previous = -1, next = -1;  // neighbours' indices; -1: none
};

struct MergeResult {
  double priority;  // smaller joins earlier
  TokenId token;
};

class MergeQueue {
 public:
  std::vector<MergeSymbol> symbols;

  void Clear() { symbols.clear(); }
  void Append(int32_t begin, int32_t size, TokenId token) {
    const int32_t index = static_cast<int32_t>(symbols.size());
    if (index > 0) symbols.back().next = index;
    symbols.push_back({begin, size, token, index - 1, -1});
  }

  // `join(left, right)` -> std::optional<MergeResult>. Afterwards the symbols linked from index 0 are the
  // result.
  template <typename Join>
  void Run(const Join& join) {
    heap_.clear();
    for (int32_t right = 1; right < static_cast<int32_t>(symbols.size()); ++right)
      Consider(right - 1, right, join);
    std::make_heap(heap_.begin(), heap_.end(), Later);
    heapified_ = true;
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), Later);
      const Candidate best = heap_.back();
      heap_.pop_back();
      MergeSymbol& left = symbols[best.left];
      MergeSymbol& right = symbols[best.right];
      // Symbols only grow, so an unchanged total means that neither has changed since the pair was
      // considered.
      if (left.size == 0 || right.size == 0 || left.size + right.size != best.size) continue;
      left.size = best.size;
      left.token = best.token;
      left.next = right.next;
      right.size = 0;
      if (left.next >= 0) symbols[left.next].previous = best.left;
      Consider(left.previous, best.left, join);
      Consider(best.left, left.next, join);
    }
    heapified_ = false;
  }

 private:
  struct Candidate {
    double priority;
    int32_t left, right;
    int32_t size;  // of both symbols together
    TokenId token;
  };

  static bool Later(const Candidate& a, const Candidate& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.left > b.left;
  }

  template <typename Join>
  void Consider(int32_t left, int32_t right, const Join& join) {
    if (left < 0 || right < 0) return;
    const std::optional<MergeResult> result = join(symbols[left], symbols[right]);
    if (!result) return;
    heap_.push_back({result->priority, left, right, symbols[left].size + symbols[right].size, result->token});
    if (heapified_) std::push_heap(heap_.begin(), heap_.end(), Later);
  }

  std::vector<Candidate> heap_;
  bool heapified_ = false;
};

}  // namespace forerun
