// y[r, o] = sum over k of x[r, k] * w[o, k], plus bias[o] where there is one.
//
// Numerics (both: one accumulator per (row, output), columns strictly in order, so a result depends on
// its own row and output alone; fma is the fused operation, rounded once):
//   f32:  acc = fma(w[k], x[k], acc) for k = 0, 1, ...        w dequantised as DequantizeRow says
//   a8:   x as quantize_rows.h makes it. A weight is s * (code - offset) - m with integer code and
//         offset, and float s and m that are constant over a sub-block of 32 columns (16 for Q2_K,
//         Q3_K, Q6_K):
//           for each sub-block in order:
//             isum = sum of (code - offset) * q           exact, int32
//             acc = fma(float(isum), s * d, acc)          s, s * d each rounded once
//             acc = fma(-m, d * float(qsum), acc)         types with a minimum only
//           d: the activation block's scale; qsum: the sub-block's sum of q
//         s and m: Q4_0, Q5_0, Q8_0: d; Q4_1, Q5_1: d and -min; K-quants: d * sc and dmin * mn, rounded
//         once. Weights stored as F32, F16 or BF16 have no codes: they are multiplied as in f32.
// The bias is added last, one rounding; then, where asked for, y's own value, one more.
//
// The ladder, measured on one thread of Zen 4, K = 1536; GMAC/s with the weights in L2 and 16 rows:
//   1. 16 outputs interleaved, the codes of 32 columns decoded into registers, rows in the inner loop
//      with their sums in memory, so that one kernel does any number of rows: Q4_K 104 (AVX2), 154
//      (vpdpbusd, whose port allows about 170). Kernels for exactly 5..8 rows with the sums in registers
//      were no faster (149 at 8, both ways).
//   2. Prefetch: with the scales in a region of their own, half the bandwidth was lost wherever a group
//      was longer than the prefetch distance (16 of 34 GB/s). Scales in front of their codes: 31-35 GB/s
//      at 1-2 rows from 7 KiB ahead on; 4 KiB loses 5 %, 2 KiB half. Into L2; one row on AVX-512 gains a
//      third from L1 instead.
//   3. AVX2, codes of 5 and 6 bits centred, so that 16 or 32 columns fit 16-bit sums without widening:
//      Q6_K 83 -> 91, Q5_0 104. Two or four chains of 16-bit adds in place of one changed nothing.
//   4. Rows arranged once for all threads, not by each chunk, together with fused operations around the
//      product: 512 rows of the 1.5B model 2-3 %, of SmolLM2 11 %.
//   5. Weights asked for up to the end of a thread's run, its first 7 KiB at once, and runs of at least 64
//      KiB. One row of SmolLM2: 3.0 ms -> 2.6; with chunks of 12 to 23 KiB and without these 3.8-4.6.
//   6. Tiles of 32 rows in place of 16, so that weights are decoded half as often: Q4_K 319 -> 323 GMAC/s on
//      two threads, Q6_K 284 -> 292. 64 rows gain Q6_K 2 % more, and Q4_K nothing.
// Where more would have to come from: at 16 rows and more the products run at 0.9 of what the bare
// instruction mix does (kernels/roof); at one row decoding does 93 of 234 GMAC/s a core, which is more than
// memory gives.
#pragma once

#include <cstdint>

#include "kernels/matmul/packed_matrix.h"
#include "kernels/variants.h"

namespace forerun {

struct MatmulArgs {
  PackedMatrix weights;
  int64_t rows = 0;
  const float* x = nullptr;       // [rows, columns]; f32 numerics, and a8 over float weights
  const int8_t* codes = nullptr;  // [rows, columns]; a8, as in QuantizeRowsArgs
  const float* scales = nullptr;  // [rows, columns / 32]
  const int32_t* sums = nullptr;  // [rows, columns / 16]
  // a8: the same as Arrange left it for this type and ISA, for every unit to read; null: each call of the
  // kernel arranges for itself.
  const std::byte* arranged = nullptr;
  const float* bias = nullptr;  // [outputs] or null
  float* y = nullptr;           // [rows, y_stride]; only [0, outputs) of a row is written
  int64_t y_stride = 0;
  bool add = false;  // y + the product, in this order, in place of the product
};

// Unit: one group of 16 outputs, over all rows: a weight is read from memory once, whatever their number.
void MatmulF32Reference(const MatmulArgs&, WorkRange, Lane&);
void MatmulF32Avx2(const MatmulArgs&, WorkRange, Lane&);
void MatmulF32Avx512(const MatmulArgs&, WorkRange, Lane&);
inline constexpr Variants<MatmulArgs> kMatmulF32{MatmulF32Reference, MatmulF32Avx2, MatmulF32Avx512};

// a8: lays rows out as the product of one type reads them, so that it happens once and not in every chunk.
struct ArrangeArgs {
  TensorType type = TensorType::kF32;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t first_block = 0;  // of `blocks` blocks of 32 columns to lay out
  int64_t blocks = 0;
  const int8_t* codes = nullptr;  // as in MatmulArgs, whole rows
  const float* scales = nullptr;
  const int32_t* sums = nullptr;
  std::byte* arranged = nullptr;  // [ArrangedBytes(rows, columns)]
};
static constexpr int64_t ArrangedBytes(int64_t rows, int64_t columns) { return rows * (columns / 32) * 64; }

// Unit: one row. The reference product reads the rows as they are: nothing to do.
void ArrangeReference(const ArrangeArgs&, WorkRange, Lane&);
void ArrangeAvx2(const ArrangeArgs&, WorkRange, Lane&);
void ArrangeAvx512(const ArrangeArgs&, WorkRange, Lane&);
void ArrangeAvx512Vnni(const ArrangeArgs&, WorkRange, Lane&);
inline constexpr Variants<ArrangeArgs> kArrange{ArrangeReference, ArrangeAvx2, ArrangeAvx512,
                                                ArrangeAvx512Vnni};

void MatmulA8Reference(const MatmulArgs&, WorkRange, Lane&);
void MatmulA8Avx2(const MatmulArgs&, WorkRange, Lane&);
void MatmulA8Avx512(const MatmulArgs&, WorkRange, Lane&);
void MatmulA8Avx512Vnni(const MatmulArgs&, WorkRange, Lane&);
inline constexpr Variants<MatmulArgs> kMatmulA8{MatmulA8Reference, MatmulA8Avx2, MatmulA8Avx512,
                                                MatmulA8Avx512Vnni};

}  // namespace forerun
