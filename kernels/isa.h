// Which instructions this machine has, chosen once at start-up.
#pragma once

namespace forerun {

// Ordered: each level includes the ones before it. kAvx512 means F, BW, VL and DQ.
enum class Isa { kReference, kAvx2, kAvx512, kAvx512Vnni };
inline constexpr Isa kAllIsas[] = {Isa::kReference, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni};

Isa DetectIsa();
const char* IsaName(Isa isa);  // "reference", "avx2", "avx512", "avx512vnni"

}  // namespace forerun
