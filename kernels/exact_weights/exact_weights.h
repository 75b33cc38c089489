// A row of logits as weights exp((x - largest) / temperature) in double: what sampling draws from when every
// word of the vocabulary stays. softmax_weights.h has the rough ones. Numerics: Exp64 of the difference and
// quotient in double.
#pragma once

#include <cstdint>

#include "kernels/variants.h"

namespace forerun {

struct ExactWeightsArgs {
  const float* x = nullptr;  // [columns]; a NaN weighs 0
  int64_t columns = 0;
  float largest = 0;  // of x; finite
  float temperature = 1;
  double* weights = nullptr;  // [columns]
};

// Unit: the whole row; there is one.
void ExactWeightsReference(const ExactWeightsArgs&, WorkRange, Lane&);
void ExactWeightsAvx2(const ExactWeightsArgs&, WorkRange, Lane&);
void ExactWeightsAvx512(const ExactWeightsArgs&, WorkRange, Lane&);
inline constexpr Variants<ExactWeightsArgs> kExactWeights{ExactWeightsReference, ExactWeightsAvx2,
                                                          ExactWeightsAvx512};

}  // namespace forerun
