// Probabilities over the vocabulary with sparse support: after top-k or top-p a few ids, not 152k numbers.
#pragma once

#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/sampling/sampling.h"

namespace forerun {

struct Residual;

class Distribution {
 public:
  Distribution() = default;  // empty: no mass
  static Distribution PointMass(TokenId token);
  // Any non-negative weights with a positive sum; normalised here. ids: [0, weights.size()).
  static Distribution FromWeights(std::span<const double> weights);
  // NaN logits count as minus infinity; if nothing is left, or
  // several are plus infinity, the lowest such id has all.
  static Distribution FromLogits(std::span<const float> logits, const Sampling& sampling,
                                 const History& history);

  bool empty() const { return tokens_.empty(); }
  std::span<const TokenId> tokens() const { return tokens_; }  // ascending ids with p > 0
  std::span<const double> probabilities() const { return probabilities_; }
  double operator[](TokenId token) const;  // 0 outside the support
  TokenId Argmax() const;                  // ties: the lowest id

  // The residual of speculative sampling: norm(max(0, p - q)); empty where p <= q everywhere.
  Distribution MinusClamped(const Distribution& q) const;
  // max(0, scale * p - q): its sum, and the distribution in proportion to it.
  Residual Above(const Distribution& q, double scale) const;
  // p with one token struck out, renormalised; empty where nothing is left.
  Distribution Without(TokenId token) const;

  // Inverse CDF in id order. u in [0, 1).
  TokenId DrawAt(double u) const;
  // Exponential race: the token with the least Exponential(key, token) / p. Two distributions drawn with the
  // same key are coupled: alike distributions give mostly the same token (Gumbel-max; Maddison et al. 2014).
  TokenId DrawRace(const RandomKey& key) const;

 private:
  // Ascending ids with non-negative weights; normalised here, empty where they sum to 0.
  Distribution(std::vector<TokenId> tokens, std::vector<double> weights);

  std::vector<TokenId> tokens_;
  std::vector<double> probabilities_;  // same length, sums to 1
};

struct Residual {
  double mass = 0;
  Distribution distribution;  // empty where mass is 0
};

// Sum over tokens of min(scale * p, q): at 1, the acceptance of `rejection` at one position.
double Overlap(const Distribution& p, const Distribution& q, double scale = 1);

}  // namespace forerun
