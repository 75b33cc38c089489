// y = activation(gate) * up, element by element. y may be gate or up.
// Numerics: Exp is kernels/simd/exp.h. silu(g) = g / (1 + Exp(-g)); gelu (tanh form, as gemma has it):
// u = 0.7978845608 * g * (1 + 0.044715 * g * g);  gelu(g) = g / (1 + Exp(-2u)).
#pragma once

#include <cstdint>

#include "kernels/variants.h"

namespace forerun {

enum class Activation { kSilu, kGeluTanh };

struct GateArgs {
  Activation activation = Activation::kSilu;
  const float* gate = nullptr;  // [rows, stride], of which the first `columns`
  const float* up = nullptr;    // [rows, stride]
  float* y = nullptr;           // [rows, stride]
  int64_t columns = 0;
  int64_t stride = 0;  // 0: columns
};

// Unit: one row.
void GateReference(const GateArgs&, WorkRange, Lane&);
void GateAvx2(const GateArgs&, WorkRange, Lane&);
void GateAvx512(const GateArgs&, WorkRange, Lane&);
inline constexpr Variants<GateArgs> kGate{GateReference, GateAvx2, GateAvx512};

}  // namespace forerun
