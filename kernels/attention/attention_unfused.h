// Attention in three passes, each over all of a unit's context, with the scores in memory between them: what
// attention.h does in one, to the same bits. For measuring what the fusion is worth.
//   scores:  `scores` = (q . k) * scale
//   softmax: per chunk e, m and l, in place
//   values:  per chunk o, then as attention.h: y, or `partials` for the merge
#pragma once

#include "kernels/attention/attention.h"

namespace forerun {

// The split must be chosen (ChooseAttentionSplit), for its sizes, even if it then has one part. Grows with
// rows and context: with many tiles, a caller passes few of them at a time.
int64_t AttentionScoreFloats(const AttentionArgs& args, int64_t tiles);

// Units: those of attention.h.
void AttentionScoresReference(const AttentionArgs&, WorkRange, Lane&);
void AttentionScoresAvx2(const AttentionArgs&, WorkRange, Lane&);
void AttentionScoresAvx512(const AttentionArgs&, WorkRange, Lane&);
inline constexpr Variants<AttentionArgs> kAttentionScores{AttentionScoresReference, AttentionScoresAvx2,
                                                          AttentionScoresAvx512};

void AttentionSoftmaxReference(const AttentionArgs&, WorkRange, Lane&);
void AttentionSoftmaxAvx2(const AttentionArgs&, WorkRange, Lane&);
void AttentionSoftmaxAvx512(const AttentionArgs&, WorkRange, Lane&);
inline constexpr Variants<AttentionArgs> kAttentionSoftmax{AttentionSoftmaxReference, AttentionSoftmaxAvx2,
                                                           AttentionSoftmaxAvx512};

void AttentionValuesReference(const AttentionArgs&, WorkRange, Lane&);
void AttentionValuesAvx2(const AttentionArgs&, WorkRange, Lane&);
void AttentionValuesAvx512(const AttentionArgs&, WorkRange, Lane&);
inline constexpr Variants<AttentionArgs> kAttentionValues{AttentionValuesReference, AttentionValuesAvx2,
                                                          AttentionValuesAvx512};

}  // namespace forerun
