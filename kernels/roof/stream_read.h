// How fast this machine reads memory: the ceiling of whatever streams weights. Several kernels, because no
// one way of reading is the fastest everywhere; the best of them counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/variants.h"

namespace forerun {

struct StreamReadArgs {
  const std::byte* data = nullptr;  // [units, unit_bytes], 64-byte aligned
  int64_t unit_bytes = 0;           // a multiple of 4096
  int streams = 1;                  // 1, 2 or 4: places of a unit that are read in turn
  int64_t ahead = 0;         // bytes from a read to its prefetch; 0: none. Nothing beyond the data is used
  uint64_t* sums = nullptr;  // [units]: exclusive or of a unit's 64-bit words
};

// Unit: one run of `unit_bytes` bytes.
void StreamReadReference(const StreamReadArgs&, WorkRange, Lane&);
void StreamReadAvx2(const StreamReadArgs&, WorkRange, Lane&);
void StreamReadAvx512(const StreamReadArgs&, WorkRange, Lane&);
inline constexpr Variants<StreamReadArgs> kStreamRead{StreamReadReference, StreamReadAvx2, StreamReadAvx512};

}  // namespace forerun
