// From logits to the tokens that may be drawn and their weights: the steps of sampling.h, one function each.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/sampling/sampling.h"

namespace forerun {

// Parallel arrays in ascending id order. Weights need not sum to 1.
struct WeightedTokens {
  std::vector<TokenId> tokens;
  std::vector<double> weights;  // same length, each > 0
  double sum = 0;  // of the weights that `top_p` is a share of: these, and any left out as too light
};

// The lowest id with the greatest value, NaN counting as minus infinity; 0 where all are minus infinity.
TokenId BestLogit(std::span<const float> logits);

// NaN becomes minus infinity; then repetition penalty, presence and frequency penalty, bias. Tokens that the
// row does not have are passed over: a draft may know fewer words than its target.
std::vector<float> AdjustLogits(std::span<const float> logits, const Sampling& sampling,
                                const History& history);

// exp((logit - best) / temperature) of the top_k tokens (all where top_k is 0). Equal logits at the edge: the
// lower ids stay. Tokens whose weight underflows to 0 are dropped. temperature > 0, best finite.
WeightedTokens TopKWeights(std::span<const float> logits, float best, float temperature, int top_k);

// The same weights without a top_k, but only of tokens that KeepTopP and KeepMinP may keep: a few hundred,
// not the vocabulary. The sum is over all; the part of it that the others hold is exact to 2e-7 of that part.
// NaN logits are passed over. top_p < 1 or min_p > 0.
WeightedTokens LikelyWeights(std::span<const float> logits, float best, float temperature, double top_p,
                             double min_p);

// Keeps the fewest tokens, by falling weight (ties: lower ids first), whose share of the sum reaches top_p:
// the token that crosses stays.
void KeepTopP(WeightedTokens& weighted, double top_p);

// Keeps the tokens with weight >= min_p * the greatest weight.
void KeepMinP(WeightedTokens& weighted, double min_p);

}  // namespace forerun
