// Two supports meet in one walk over ascending ids.
#include "core/sampling/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/check.h"
#include "core/sampling/warp.h"
#include "core/sampling/weigh.h"

namespace forerun {
namespace {

// Walks the union of two supports in id order: visit(token, p, q).
template <typename Visit>
void MergeWalk(const Distribution& p, const Distribution& q, Visit visit) {
  const std::span<const TokenId> p_tokens = p.tokens(), q_tokens = q.tokens();
  const std::span<const double> p_values = p.probabilities(), q_values = q.probabilities();
  std::size_t i = 0, j = 0;
  while (i < p_tokens.size() || j < q_tokens.size()) {
    const bool has_p = j == q_tokens.size() || (i < p_tokens.size() && p_tokens[i] <= q_tokens[j]);
    const bool has_q = i == p_tokens.size() || (j < q_tokens.size() && q_tokens[j] <= p_tokens[i]);
    visit(has_p ? p_tokens[i] : q_tokens[j], has_p ? p_values[i] : 0.0, has_q ? q_values[j] : 0.0);
    i += has_p;
    j += has_q;
  }
}

// Of the logits that top_k keeps; where all stay, of no more than top_p and min_p can keep.
WeightedTokens WeightsOf(std::span<const float> logits, float best, const Sampling& sampling, bool limited) {
  if (limited) return TopKWeights(logits, best, sampling.temperature, sampling.top_k);
  if (sampling.top_p < 1 || sampling.min_p > 0)
    return LikelyWeights(logits, best, sampling.temperature, sampling.top_p, sampling.min_p);
  return AllWeights(logits, best, sampling.temperature);
}

}  // namespace

Distribution::Distribution(std::vector<TokenId> tokens, std::vector<double> weights)
    : tokens_(std::move(tokens)), probabilities_(std::move(weights)) {
  const double sum = LaneSum(probabilities_);
  if (tokens_.empty() || sum == 0) {
    tokens_.clear();
    probabilities_.clear();
    return;
  }
  FORERUN_CHECK(sum > 0 && std::isfinite(sum));
  for (double& probability : probabilities_) probability /= sum;
  if (std::count(probabilities_.begin(), probabilities_.end(), 0.0) == 0) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    tokens_[kept] = tokens_[i];
    probabilities_[kept] = probabilities_[i];
    kept += probabilities_[i] > 0;
  }
  tokens_.resize(kept);
  probabilities_.resize(kept);
}

Distribution Distribution::PointMass(TokenId token) { return Distribution({token}, {1.0}); }

Distribution Distribution::FromWeights(std::span<const double> weights) {
  std::vector<TokenId> tokens;
  std::vector<double> kept;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    FORERUN_CHECK(weights[i] >= 0);
    if (weights[i] == 0) continue;
    tokens.push_back(static_cast<TokenId>(i));
    kept.push_back(weights[i]);
  }
  FORERUN_CHECK(!tokens.empty());
  return Distribution(std::move(tokens), std::move(kept));
}

Distribution Distribution::FromLogits(std::span<const float> logits, const Sampling& sampling,
                                      const History& history) {
  FORERUN_CHECK(!logits.empty());
  if (sampling.plain_argmax()) return PointMass(BestLogit(logits));
  std::vector<float> adjusted;
  const bool limited = sampling.top_k > 0 && static_cast<std::size_t>(sampling.top_k) < logits.size();
  if (sampling.adjusts_logits() || limited) {
    adjusted = AdjustLogits(logits, sampling, history);
    logits = adjusted;
  }
  const TokenId best = BestLogit(logits);
  if (sampling.greedy() || !std::isfinite(logits[best])) return PointMass(best);
  WeightedTokens weighted = WeightsOf(logits, logits[best], sampling, limited);
  KeepTopP(weighted, sampling.top_p);
  KeepMinP(weighted, sampling.min_p);
  return Distribution(std::move(weighted.tokens), std::move(weighted.weights));
}

double Distribution::operator[](TokenId token) const {
  const auto found = std::lower_bound(tokens_.begin(), tokens_.end(), token);
  return found != tokens_.end() && *found == token ? probabilities_[found - tokens_.begin()] : 0;
}

TokenId Distribution::Argmax() const {
  FORERUN_CHECK(!empty());
  return tokens_[std::max_element(probabilities_.begin(), probabilities_.end()) - probabilities_.begin()];
}

Distribution Distribution::MinusClamped(const Distribution& q) const { return Above(q, 1).distribution; }

Residual Distribution::Above(const Distribution& q, double scale) const {
  std::vector<TokenId> tokens(tokens_.size());
  std::vector<double> weights(tokens_.size());
  std::size_t kept = 0;
  const auto keep_if_above = [&](std::size_t i, double q_token) {
    tokens[kept] = tokens_[i];
    weights[kept] = scale * probabilities_[i] - q_token;
    kept += weights[kept] > 0;
  };
  // Two whole vocabularies agree from the first id on: no search for a partner.
  const std::size_t shared =
      std::mismatch(tokens_.begin(), tokens_.end(), q.tokens_.begin(), q.tokens_.end()).first -
      tokens_.begin();
  for (std::size_t i = 0; i < shared; ++i) keep_if_above(i, q.probabilities_[i]);
  for (std::size_t i = shared, j = shared; i < tokens_.size(); ++i) {
    while (j < q.tokens_.size() && q.tokens_[j] < tokens_[i]) ++j;
    keep_if_above(i, j < q.tokens_.size() && q.tokens_[j] == tokens_[i] ? q.probabilities_[j] : 0);
  }
  tokens.resize(kept);
  weights.resize(kept);
  const double mass = LaneSum(weights);
  return {mass, Distribution(std::move(tokens), std::move(weights))};
}

Distribution Distribution::Without(TokenId token) const {
  Distribution rest = *this;
  const auto found = std::lower_bound(rest.tokens_.begin(), rest.tokens_.end(), token);
  if (found == rest.tokens_.end() || *found != token) return rest;
  rest.probabilities_.erase(rest.probabilities_.begin() + (found - rest.tokens_.begin()));
  rest.tokens_.erase(found);
  return Distribution(std::move(rest.tokens_), std::move(rest.probabilities_));
}

TokenId Distribution::DrawAt(double u) const {
  FORERUN_CHECK(!empty() && u >= 0 && u < 1);
  double sum = 0;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    sum += probabilities_[i];
    if (u < sum) return tokens_[i];
  }
  return tokens_.back();  // u lies above a sum that rounding left just below 1
}

TokenId Distribution::DrawRace(const RandomKey& key) const {
  FORERUN_CHECK(!empty());
  // -log(u) >= 1 - u, so most tokens are seen to lose before the logarithm; the margin covers all rounding.
  constexpr double kMargin = 1 - 1e-9;
  const RandomStream stream(key);
  double best_clock = std::numeric_limits<double>::infinity();
  TokenId best = tokens_.front();
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const double u = stream.PositiveUniform(tokens_[i]);
    if ((1 - u) * kMargin > best_clock * probabilities_[i]) continue;
    const double clock = NegativeLog(u) / probabilities_[i];
    if (clock >= best_clock) continue;
    best_clock = clock;
    best = tokens_[i];
  }
  return best;
}

double Overlap(const Distribution& p, const Distribution& q, double scale) {
  double sum = 0;
  MergeWalk(p, q, [&sum, scale](TokenId, double p_token, double q_token) {
    sum += std::min(scale * p_token, q_token);
  });
  return sum;
}

}  // namespace forerun
