#include "core/model/rope_table.h"

#include <cmath>

namespace forerun {
namespace {
constexpr int kStep = 256;  // positions added at a time
}

RopeTable::RopeTable(int rotary, float base, float scale, const std::vector<float>& factors) {
  for (int i = 0; i < rotary / 2; ++i) {
    const double factor = factors.empty() ? 1.0 : factors[i];
    frequencies_.push_back(scale * std::pow(static_cast<double>(base), -2.0 * i / rotary) / factor);
  }
}

void RopeTable::Cover(int positions) {
  if (positions <= positions_) return;
  const int covered = (positions + kStep - 1) / kStep * kStep;
  cosines_.reserve(covered * frequencies_.size());
  sines_.reserve(covered * frequencies_.size());
  for (int position = positions_; position < covered; ++position) {
    for (const double frequency : frequencies_) {
      cosines_.push_back(static_cast<float>(std::cos(position * frequency)));
      sines_.push_back(static_cast<float>(std::sin(position * frequency)));
    }
  }
  positions_ = covered;
}

}  // namespace forerun
