// The axis of the numerics contract that a user chooses; see kernels/matmul/matmul.h for what each computes.
#pragma once

namespace forerun {

enum class Numerics { kF32, kA8 };
const char* NumericsName(Numerics numerics);  // "f32", "a8"

}  // namespace forerun
