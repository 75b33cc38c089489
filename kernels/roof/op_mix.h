// What the processor could multiply at most under the numerics of matmul.h: the bare instructions of the
// inner loops, with weights in registers, a few activations in the first-level cache and rows enough that no
// result is waited for. Nothing is decoded and nothing comes from memory, so no kernel with these numerics
// can pass it.
//   a8, per 32 columns, 16 outputs and row: eight dot products of four columns; per sub-block one conversion
//   to float, one product of scales, one fma, and one fma more where the type has a minimum.
//   f32, per column, 16 outputs and row: one fma.
#pragma once

#include <cstdint>

#include "kernels/variants.h"

namespace forerun {

inline constexpr int kOpMixRing = 4;            // blocks of activations that are used in turn
inline constexpr int kOpMixRows[] = {2, 4, 8};  // the row counts that there are kernels for

struct OpMixBlock {  // a row's share of 32 columns
  int8_t codes[32];
  float d;
  float d_qsum[2];  // by sub-block
};

struct OpMixArgs {
  int sub_blocks = 1;  // of 32 columns: 1 or 2
  bool has_min = false;
  int rows = 2;                    // one of kOpMixRows
  int64_t blocks = 0;              // of 32 columns; what a unit does
  const uint8_t* codes = nullptr;  // [8 k-groups][16 outputs][4 columns], up to 15: sums fit 16 bits
  const float* scales = nullptr;   // [sub_blocks][16]
  const float* minima = nullptr;   // [sub_blocks][16]
  const OpMixBlock* x = nullptr;   // [kOpMixRing][rows]
  float* y = nullptr;              // [units][rows][16]
};

// Unit: one product over blocks * 32 columns, numerics as in matmul.h; minima are subtracted.
void OpMixReference(const OpMixArgs&, WorkRange, Lane&);
void OpMixAvx2(const OpMixArgs&, WorkRange, Lane&);
void OpMixAvx512(const OpMixArgs&, WorkRange, Lane&);
void OpMixAvx512Vnni(const OpMixArgs&, WorkRange, Lane&);
inline constexpr Variants<OpMixArgs> kOpMix{OpMixReference, OpMixAvx2, OpMixAvx512, OpMixAvx512Vnni};

struct FmaMixArgs {
  int rows = 2;                    // one of kOpMixRows
  int64_t blocks = 0;              // of 32 columns
  const float* weights = nullptr;  // [32 columns][16]
  const float* x = nullptr;        // [kOpMixRing][32 columns][rows]
  float* y = nullptr;              // [units][rows][16]
};

// Unit: one product over blocks * 32 columns.
void FmaMixReference(const FmaMixArgs&, WorkRange, Lane&);
void FmaMixAvx2(const FmaMixArgs&, WorkRange, Lane&);
void FmaMixAvx512(const FmaMixArgs&, WorkRange, Lane&);
inline constexpr Variants<FmaMixArgs> kFmaMix{FmaMixReference, FmaMixAvx2, FmaMixAvx512};

}  // namespace forerun
