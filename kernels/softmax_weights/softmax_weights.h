// A row of logits as weights exp((x - largest) / temperature), and which of them are worth a second look:
// what sampling needs of a vocabulary before it can forget most of it. Numerics: the project's own Exp; the
// sum in 16 lanes as in rms_norm.h, each lane in double. A NaN weighs 0.
#pragma once

#include <cstdint>

#include "kernels/variants.h"

namespace forerun {

struct SoftmaxWeightsArgs {
  const float* x = nullptr;  // [columns]
  int64_t columns = 0;
  float largest = 0;  // of x; finite
  float temperature = 1;
  float* weights = nullptr;  // [columns]
  double* sum = nullptr;
};

// Unit: the whole row; there is one.
void SoftmaxWeightsReference(const SoftmaxWeightsArgs&, WorkRange, Lane&);
void SoftmaxWeightsAvx2(const SoftmaxWeightsArgs&, WorkRange, Lane&);
void SoftmaxWeightsAvx512(const SoftmaxWeightsArgs&, WorkRange, Lane&);
inline constexpr Variants<SoftmaxWeightsArgs> kSoftmaxWeights{SoftmaxWeightsReference, SoftmaxWeightsAvx2,
                                                              SoftmaxWeightsAvx512};

struct AtLeastArgs {
  const float* x = nullptr;  // [columns]
  int64_t columns = 0;
  float floor = 0;
  int32_t* places = nullptr;  // [columns]: out, where x >= floor, ascending
  int64_t* count = nullptr;   // out: how many
};

// Unit: the whole row; there is one.
void AtLeastReference(const AtLeastArgs&, WorkRange, Lane&);
void AtLeastAvx2(const AtLeastArgs&, WorkRange, Lane&);
void AtLeastAvx512(const AtLeastArgs&, WorkRange, Lane&);
inline constexpr Variants<AtLeastArgs> kAtLeast{AtLeastReference, AtLeastAvx2, AtLeastAvx512};

}  // namespace forerun
