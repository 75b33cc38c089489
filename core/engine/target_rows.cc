#include "core/engine/target_rows.h"

#include <algorithm>
#include <cmath>

namespace forerun {

Distribution ForwardTargetRows::Row(int node, const Sampling& sampling) const {
  const std::vector<TokenId> path = tree_.PathTokens(node);
  const std::size_t prompt = request_.prompt.size();
  return Distribution::FromLogits(
      outputs_[node].logits, sampling,
      {.prompt = committed_.first(prompt), .output = committed_.subspan(prompt), .path = path});
}

Distribution ForwardTargetRows::At(int node) const {
  const RowOutput& output = outputs_[node];
  return output.logits.empty() ? Distribution::PointMass(output.argmax) : Row(node, request_.sampling);
}

Distribution ForwardTargetRows::UnwarpedAt(int node) const {
  Sampling unwarped = request_.sampling;
  unwarped.temperature = 1;
  unwarped.top_k = 0;
  unwarped.top_p = 1;
  unwarped.min_p = 0;
  return Row(node, unwarped);
}

TokenId ForwardTargetRows::BestAt(int node) const {
  return outputs_[node].logits.empty() ? outputs_[node].argmax : At(node).Argmax();
}

double LogProbability(std::span<const float> logits, TokenId token) {
  const double best = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - best);
  return logits[token] - best - std::log(sum);
}

}  // namespace forerun
