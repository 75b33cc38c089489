// The k best of a row of logits, without sorting the vocabulary.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "core/model/forward_batch.h"

namespace forerun {

// A list of at most k tokens, best first; equal logits stay in the order of offering. A NaN or minus infinity
// never enters.
class TopTokens {
 public:
  TopTokens(std::vector<ScoredToken>& list, int k) : list_(list), k_(k) {}
  // Whether an offer of this logit would enter.
  bool Takes(float logit) const {
    return logit > (static_cast<int>(list_.size()) < k_ ? kNothing : list_.back().logit);
  }
  void Offer(TokenId token, float logit);

 private:
  static constexpr float kNothing = -std::numeric_limits<float>::infinity();
  std::vector<ScoredToken>& list_;
  int k_;
};

// Of `logits` by id; ties: the lowest ids.
std::vector<ScoredToken> BestTokens(std::span<const float> logits, int k);

}  // namespace forerun
