// gate and up as one product with the activation between them, and the codes of the result for down: 32
// hidden values at a time, for all rows, while they are in cache.
#pragma once

#include "kernels/fused/quantized_rows.h"

namespace forerun {

struct GateUpArgs {
  const Kernels* kernels = nullptr;
  KernelFn<MatmulArgs> gate_matmul = nullptr, up_matmul = nullptr;
  MatmulArgs gate, up;  // both outputs are [rows, hidden width]; the result takes the gate's place
  Activation activation = Activation::kSilu;
  QuantizedRows to;
};

inline constexpr int kGateUpColumns = 32;
inline int64_t GateUpUnits(const GateUpArgs& args) {
  return (args.gate.weights.outputs + kGateUpColumns - 1) / kGateUpColumns;
}

// Unit: kGateUpColumns hidden values.
void GateUp(const GateUpArgs&, WorkRange, Lane&);

}  // namespace forerun
