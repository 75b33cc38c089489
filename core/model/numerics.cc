#include "core/model/numerics.h"

namespace forerun {

const char* NumericsName(Numerics numerics) { return numerics == Numerics::kF32 ? "f32" : "a8"; }

}  // namespace forerun
