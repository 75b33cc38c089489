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
  for (int64_t i = rows.begin * args.columns; i < rows.end * args.columns; ++i) {
    const float g = args.gate[i];
    args.y[i] = (args.activation == Activation::kSilu ? Silu(g) : GeluTanh(g)) * args.up[i];
  }
}

}  // namespace forerun
