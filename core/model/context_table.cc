#include "core/model/context_table.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/random.h"

namespace forerun {
namespace {

constexpr int kUnits = 64;

// Hands out kUnits units of 1 / kUnits at random among the tokens that may have some.
void FillRow(std::span<double> row, const RandomStream& stream, bool zeros) {
  const int vocab = static_cast<int>(row.size());
  std::vector<int> allowed;
  for (int token = 0; token < vocab; ++token) {
    if (!zeros || stream.Uniform(1000 + token) >= 1.0 / 3) allowed.push_back(token);
  }
  if (allowed.empty()) allowed.push_back(static_cast<int>(stream.Bits(2000) % vocab));
  // Cut points of [0, units]; each allowed token gets one unit first, so that no mass vanishes by chance.
  const int count = static_cast<int>(allowed.size());
  std::vector<int> cuts = {0, kUnits - count};
  for (int i = 1; i < count; ++i) cuts.push_back(static_cast<int>(stream.Bits(i) % (kUnits - count + 1)));
  std::sort(cuts.begin(), cuts.end());
  std::fill(row.begin(), row.end(), 0.0);
  for (int i = 0; i < count; ++i) row[allowed[i]] = (cuts[i + 1] - cuts[i] + 1) / static_cast<double>(kUnits);
}

}  // namespace

ContextTable::ContextTable(int vocab_size, int order) : vocab_size_(vocab_size), order_(order) {
  FORERUN_CHECK(vocab_size >= 1 && order >= 0);
  std::size_t rows = 1;
  for (int i = 0; i < order; ++i) rows *= vocab_size + 1;
  probabilities_.resize(rows * vocab_size);
  int width = 1;
  while (2 * width <= vocab_size) width *= 2;
  for (int row = 0; row < num_rows(); ++row) {
    std::fill(RowAt(row).begin(), RowAt(row).begin() + width, 1.0 / width);
  }
}

ContextTable ContextTable::Random(int vocab_size, int order, uint64_t seed, bool zeros) {
  ContextTable table(vocab_size, order);
  for (int row = 0; row < table.num_rows(); ++row) {
    FillRow(table.RowAt(row), RandomStream({.seed = seed, .place = static_cast<uint64_t>(row)}), zeros);
  }
  return table;
}

std::size_t ContextTable::Offset(std::span<const TokenId> context) const {
  std::size_t row = 0;
  for (int back = order_; back >= 1; --back) {
    const bool exists = static_cast<std::size_t>(back) <= context.size();
    const TokenId digit = exists ? context[context.size() - back] : vocab_size_;
    FORERUN_CHECK(!exists || (digit >= 0 && digit < vocab_size_));
    row = row * (vocab_size_ + 1) + digit;
  }
  return row * vocab_size_;
}

std::span<double> ContextTable::Row(std::span<const TokenId> context) {
  return std::span(probabilities_).subspan(Offset(context), vocab_size_);
}

std::span<const double> ContextTable::Row(std::span<const TokenId> context) const {
  return std::span(probabilities_).subspan(Offset(context), vocab_size_);
}

std::span<double> ContextTable::RowAt(int index) {
  return std::span(probabilities_).subspan(static_cast<std::size_t>(index) * vocab_size_, vocab_size_);
}

}  // namespace forerun
