#include "core/engine/target_rows.h"

#include <algorithm>
#include <cmath>

namespace forerun {

Distribution ForwardTargetRows::At(int node) const {
  const RowOutput& output = outputs_[node];
  if (output.logits.empty()) return Distribution::PointMass(output.argmax);
  const std::vector<TokenId> path = tree_.PathTokens(node);
  const std::size_t prompt = request_.prompt.size();
  return Distribution::FromLogits(
      output.logits, request_.sampling,
      {.prompt = committed_.first(prompt), .output = committed_.subspan(prompt), .path = path});
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
