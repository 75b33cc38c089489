// Negative controls of the exact laboratory: speculation with one mistake each. A laboratory that calls one
// of them lossless is blind.
#pragma once

#include <string>
#include <vector>

namespace forerun {

struct Control {
  std::string name;
  std::string mistake;
  double bias = 0;       // total variation over the emitted tokens
  bool expected = true;  // whether the laboratory must see it; false: the same setting without the mistake
};

// What a mistake must reach to count as seen; the laboratory's own rounding stays far below.
inline constexpr double kVisibleBias = 1e-3;

std::vector<Control> RunControls();

}  // namespace forerun
