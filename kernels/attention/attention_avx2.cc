#include "kernels/attention/attention.h"
#include "kernels/attention/attention_simd.h"
#include "kernels/attention/attention_unfused.h"
#include "kernels/simd/lanes_avx2.h"

namespace forerun {

void AttentionAvx2(const AttentionArgs& args, WorkRange units, Lane& lane) {
  ForEachAttentionUnit<avx2::Lanes>(args, units, lane, [](auto& unit) { unit.Run(); });
}

void AttentionMergeAvx2(const AttentionArgs& args, WorkRange units, Lane& lane) {
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const int64_t first_part = unit * args.split.parts;
    ForEachAttentionUnit<avx2::Lanes>(args, {first_part, first_part + 1}, lane,
                                      [](auto& part) { part.RunMerge(); });
  }
}

void AttentionScoresAvx2(const AttentionArgs& args, WorkRange units, Lane& lane) {
  ForEachAttentionUnit<avx2::Lanes>(args, units, lane, [](auto& unit) { unit.RunScores(); });
}

void AttentionSoftmaxAvx2(const AttentionArgs& args, WorkRange units, Lane& lane) {
  ForEachAttentionUnit<avx2::Lanes>(args, units, lane, [](auto& unit) { unit.RunSoftmax(); });
}

void AttentionValuesAvx2(const AttentionArgs& args, WorkRange units, Lane& lane) {
  ForEachAttentionUnit<avx2::Lanes>(args, units, lane, [](auto& unit) { unit.RunValues(); });
}

}  // namespace forerun
