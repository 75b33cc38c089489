// What is wanted of a row of logits when not the row itself: its best token, and log(sum(exp)).
// Numerics: ties go to the lowest index; NaN never wins, and a row of NaN alone has argmax 0.
// log_sum_exp = max + log(sum of Exp(x - max)), the sum in 16 lanes as in rms_norm.h, each lane in double,
// the log in double; a max that is not finite is the answer itself.
#pragma once

#include <cstdint>

#include "kernels/variants.h"

namespace forerun {

struct RowReduceArgs {
  const float* x = nullptr;  // [rows, stride]
  int64_t stride = 0;
  int64_t columns = 0;
  int32_t* argmax = nullptr;      // [rows] or null
  double* log_sum_exp = nullptr;  // [rows] or null
};

// Unit: one row.
void RowReduceReference(const RowReduceArgs&, WorkRange, Lane&);
void RowReduceAvx2(const RowReduceArgs&, WorkRange, Lane&);
void RowReduceAvx512(const RowReduceArgs&, WorkRange, Lane&);
inline constexpr Variants<RowReduceArgs> kRowReduce{RowReduceReference, RowReduceAvx2, RowReduceAvx512};

}  // namespace forerun
