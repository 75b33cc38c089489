// Where things are in a packed group of 16 outputs. A "k-group" is four columns: its vector of 64 bytes has,
// for output o and column c of the four, byte 4 o + c, which is one operand of vpdpbusd. A quantised group is
// a run of units (32 columns, or a K-quant's 256), each its scales and then its codes, so that memory is read
// in order:
//   scales, as the file has them; [16] = outputs:
//     Q4_0, Q5_0, Q8_0  half d[16]
//     Q4_1, Q5_1        half d[16], m[16]
//     Q3_K, Q6_K        half d[16]; int8 sc[16 sub-blocks][16]
//     Q2_K              half d[16], dmin[16]; then the file's bytes (low nibble sc, high nibble mn) of
//                       the 16 sub-blocks, [16 sub-blocks][16]
//     Q4_K, Q5_K        half d[16], dmin[16]; then, as vectors of [4 sub-blocks][16] bytes: sub-blocks
//                       0..3 and 4..7, low nibble sc & 15, high nibble mn & 15; and their upper two bits:
//                       sc 0..3 in bits 0-1, mn 0..3 in 2-3, sc 4..7 in 4-5, mn 4..7 in 6-7
//   codes, per 32 columns (8 k-groups) the low bits, then the high bits:
//     low 4:  4 vectors; vector v has k-group v in the low nibbles and v + 4 in the high ones
//     low 2:  2 vectors; vector v has k-groups 4 v .. 4 v + 3 in bits 0-1, 2-3, 4-5, 6-7
//     low 8:  8 vectors
//     high 1: 1 vector; bit j is that of k-group j
//     high 2: 2 vectors, as low 2
// Vectors are aligned to 32 bytes. Codes are unsigned: the weight's integer is code - offset.
// F32, F16, BF16: [columns][16 outputs].
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/formats/tensor_type.h"

namespace forerun {

struct PackedLayout {
  int low_bits;
  int high_bits;
  int offset;
  int sub_columns;   // columns that share s and m
  int unit_columns;  // columns of one scale unit
  int scale_bytes;   // of one scale unit
  bool has_min;

  constexpr int CodeBytes() const { return (low_bits + high_bits) * 64; }  // of 32 columns
  constexpr int UnitBytes() const { return scale_bytes + unit_columns / 32 * CodeBytes(); }
};

// The quantised types only.
static constexpr PackedLayout LayoutOf(TensorType type) {
  switch (type) {
    case TensorType::kQ4_0:
      return {4, 0, 8, 32, 32, 32, false};
    case TensorType::kQ4_1:
      return {4, 0, 0, 32, 32, 64, true};
    case TensorType::kQ5_0:
      return {4, 1, 16, 32, 32, 32, false};
    case TensorType::kQ5_1:
      return {4, 1, 0, 32, 32, 64, true};
    case TensorType::kQ8_0:
      return {8, 0, 128, 32, 32, 32, false};
    case TensorType::kQ2_K:
      return {2, 0, 0, 16, 256, 320, true};
    case TensorType::kQ3_K:
      return {2, 1, 4, 16, 256, 288, false};
    case TensorType::kQ4_K:
      return {4, 0, 0, 32, 256, 256, true};
    case TensorType::kQ5_K:
      return {4, 1, 0, 32, 256, 256, true};
    case TensorType::kQ6_K:
      return {4, 2, 32, 16, 256, 288, false};
    default:
      return {};
  }
}

}  // namespace forerun
