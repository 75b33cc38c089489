// Cosines and sines of every position so far seen: [positions, rotary / 2], computed in double, grown on
// demand.
#pragma once

#include <vector>

namespace forerun {

class RopeTable {
 public:
  // frequency[i] = scale * base^(-2i / rotary) / factors[i]; factors: [rotary / 2] or empty.
  RopeTable(int rotary, float base, float scale, const std::vector<float>& factors);

  void Cover(int positions);  // after this, rows [0, positions) are there
  const float* cosines() const { return cosines_.data(); }
  const float* sines() const { return sines_.data(); }

 private:
  std::vector<double> frequencies_;  // [rotary / 2]
  std::vector<float> cosines_, sines_;
  int positions_ = 0;
};

}  // namespace forerun
