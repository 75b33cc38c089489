// The definition of gate.h in plain loops.
#include "kernels/gate/gate.h"
#include "kernels/simd/exp.h"

namespace forerun {
namespace {

float Silu(float g) { return g / (1.0f + Exp(-g)); }

float GeluTanh(float g) {
  const float u = (0.7978845608f * g) * (1.0f + (0.044715f * g) * g);
  return g / (1.0f + Exp(-2.0f * u));
}

}  // namespace

void GateReference(const GateArgs& args, WorkRange rows, Lane&) {
  const int64_t stride = args.stride > 0 ? args.stride : args.columns;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    for (int64_t i = row * stride; i < row * stride + args.columns; ++i) {
      const float g = args.gate[i];
      args.y[i] = (args.activation == Activation::kSilu ? Silu(g) : GeluTanh(g)) * args.up[i];
    }
  }
}

}  // namespace forerun
