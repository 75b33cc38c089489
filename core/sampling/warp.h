// The steps of sampling.h before and after logits become weights, one function each.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/sampling/sampling.h"
#include "core/sampling/weigh.h"

namespace forerun {

// The lowest id with the greatest value, NaN counting as minus infinity; 0 where all are minus infinity.
TokenId BestLogit(std::span<const float> logits);

// NaN becomes minus infinity; then repetition penalty, presence and frequency penalty, bias. Tokens that the
// row does not have are passed over: a draft may know fewer words than its target.
std::vector<float> AdjustLogits(std::span<const float> logits, const Sampling& sampling,
                                const History& history);

// Keeps the fewest tokens, by falling weight (ties: lower ids first), whose share of the sum reaches top_p:
// the token that crosses stays.
void KeepTopP(WeightedTokens& weighted, double top_p);

// Keeps the tokens with weight >= min_p * the greatest weight.
void KeepMinP(WeightedTokens& weighted, double min_p);

}  // namespace forerun
