// The variants of one kernel. A kernel is a plain function over a plain-data argument struct; it works on a
// range of units (each op says what its unit is), so that any split over threads gives the same bits.
#pragma once

#include <cstdint>

#include "kernels/isa.h"
#include "kernels/runtime/lane.h"

namespace forerun {

struct WorkRange {
  int64_t begin = 0;
  int64_t end = 0;
};

template <class Args>
using KernelFn = void (*)(const Args&, WorkRange, Lane&);

// Unwritten variants are null; For() falls back to the next narrower one.
template <class Args>
struct Variants {
  KernelFn<Args> reference = nullptr;
  KernelFn<Args> avx2 = nullptr;
  KernelFn<Args> avx512 = nullptr;
  KernelFn<Args> avx512vnni = nullptr;

  constexpr KernelFn<Args> Exactly(Isa isa) const {
    switch (isa) {
      case Isa::kReference:
        return reference;
      case Isa::kAvx2:
        return avx2;
      case Isa::kAvx512:
        return avx512;
      case Isa::kAvx512Vnni:
        return avx512vnni;
    }
    return nullptr;
  }
  constexpr KernelFn<Args> For(Isa isa) const {
    for (int level = static_cast<int>(isa); level > 0; --level) {
      if (KernelFn<Args> fn = Exactly(static_cast<Isa>(level))) return fn;
    }
    return reference;
  }
};

}  // namespace forerun
