// A next-token distribution for every context: what a language model is, small enough to be enumerated. Rows
// are multiples of 1/64, so that they are exact in binary and sum to exactly 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"

namespace forerun {

class ContextTable {
 public:
  // Rows depend on the last `order` tokens (fewer at the start of a text, which is a context of its own).
  // All rows start uniform over the first power of two of tokens.
  ContextTable(int vocab_size, int order);
  // Random rows; `zeros`: about a third of the entries have no mass.
  static ContextTable Random(int vocab_size, int order, uint64_t seed, bool zeros = false);

  int vocab_size() const { return vocab_size_; }
  int order() const { return order_; }
  std::span<double> Row(std::span<const TokenId> context);              // [vocab]
  std::span<const double> Row(std::span<const TokenId> context) const;  // [vocab]
  int num_rows() const { return static_cast<int>(probabilities_.size()) / vocab_size_; }
  std::span<double> RowAt(int index);  // in no order that matters

 private:
  std::size_t Offset(std::span<const TokenId> context) const;

  int vocab_size_;
  int order_;
  std::vector<double> probabilities_;  // [(vocab + 1) ^ order, vocab]
};

}  // namespace forerun
