// From logits to the tokens that may be drawn and their weights: softmax without its division, of a whole
// vocabulary or of the part that a warp can keep.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/types.h"

namespace forerun {

// Parallel arrays in ascending id order. Weights need not sum to 1.
struct WeightedTokens {
  std::vector<TokenId> tokens;
  std::vector<double> weights;  // same length, each > 0
  double sum = 0;  // of the weights that `top_p` is a share of: these, and any left out as too light
};

// In eight lanes, which are added at the end: no chain of additions as long as a vocabulary.
double LaneSum(std::span<const double> values);

// exp((logit - best) / temperature) of every token. Those of weight 0 are dropped: NaN logits, minus
// infinity, and what lies 708 temperatures below the best. temperature > 0, best finite.
WeightedTokens AllWeights(std::span<const float> logits, float best, float temperature);

// The same weights of the top_k tokens; 0 < top_k <= logits.size(). Equal logits at the edge: the lower ids
// stay. No logit is NaN.
WeightedTokens TopKWeights(std::span<const float> logits, float best, float temperature, int top_k);

// The same weights, but only of tokens that KeepTopP and KeepMinP may keep: a few hundred,
// not the vocabulary. The sum is over all; the part of it that the others hold is exact to 2e-7 of that part.
// NaN logits are passed over. top_p < 1 or min_p > 0.
WeightedTokens LikelyWeights(std::span<const float> logits, float best, float temperature, double top_p,
                             double min_p);

// All tokens below this weight together hold less than 1 - top_p of the sum: the shortest prefix that holds
// top_p lies among the others. The rest of the factor pays for rounding, and for tokens that are already left
// out by a floor of their own.
inline double TopPFloor(double sum, double top_p, std::size_t tokens) {
  return 0.25 * (1 - top_p) * sum / static_cast<double>(tokens);
}

// Leaves the tokens where stays(token, weight).
template <typename Predicate>
void KeepIf(WeightedTokens& weighted, Predicate stays) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < weighted.tokens.size(); ++i) {
    const TokenId token = weighted.tokens[i];
    const double weight = weighted.weights[i];
    if (!stays(token, weight)) continue;
    weighted.tokens[kept] = token;
    weighted.weights[kept++] = weight;
  }
  weighted.tokens.resize(kept);
  weighted.weights.resize(kept);
}

}  // namespace forerun
