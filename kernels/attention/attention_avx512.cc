#include "kernels/attention/attention.h"
#include "kernels/attention/attention_simd.h"
#include "kernels/attention/attention_unfused.h"
#include "kernels/simd/lanes_avx512.h"

namespace forerun {

void AttentionAvx512(const AttentionArgs& args, WorkRange units, Lane& lane) {
  ForEachAttentionUnit<avx512::Lanes>(args, units, lane, [](auto& unit) { unit.Run(); });
}

void AttentionMergeAvx512(const AttentionArgs& args, WorkRange units, Lane& lane) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t first_part = unit * args.split.parts;
    ForEachAttentionUnit<avx512::Lanes>(args, {first_part, first_part + 1}, lane,
                                        [](auto& part) { part.RunMerge(); });
  }
}

void AttentionScoresAvx512(const AttentionArgs& args, WorkRange units, Lane& lane) {
  ForEachAttentionUnit<avx512::Lanes>(args, units, lane, [](auto& unit) { unit.RunScores(); });
}

void AttentionSoftmaxAvx512(const AttentionArgs& args, WorkRange units, Lane& lane) {
  ForEachAttentionUnit<avx512::Lanes>(args, units, lane, [](auto& unit) { unit.RunSoftmax(); });
}

void AttentionValuesAvx512(const AttentionArgs& args, WorkRange units, Lane& lane) {
  ForEachAttentionUnit<avx512::Lanes>(args, units, lane, [](auto& unit) { unit.RunValues(); });
}

}  // namespace forerun
