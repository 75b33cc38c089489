// Attention, the merging of its parts and the codes of its output, in one go: who finishes the last part of
// some heads merges and quantises them.
#pragma once

#include "kernels/fused/quantized_rows.h"

namespace forerun {

struct AttentionCodesArgs {
  const Kernels* kernels = nullptr;
  AttentionArgs attention;
  QuantizedRows to;  // of attention.y; the head size must be a multiple of 32 where codes are wanted
  int32_t* arrivals = nullptr;  // [AttentionMergeUnits], zero before and after
};

// Unit: that of attention.
void AttentionCodes(const AttentionCodesArgs&, WorkRange, Lane&);

}  // namespace forerun
