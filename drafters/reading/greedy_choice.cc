#include "drafters/reading/greedy_choice.h"

#include <algorithm>
#include <cmath>

namespace forerun {
namespace {

// How a draft's best token is chosen whatever the temperature of the request.
Sampling Greedy(Sampling sampling) {
  sampling.temperature = 0;
  return sampling;
}

}  // namespace

double BestProbability(std::span<const float> logits) {
  const float best = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - best);
  return 1 / sum;
}

WantedOutput WantedForGreedy(const Sampling& sampling, double min_confidence) {
  if (!Greedy(sampling).plain_argmax()) return WantedOutput::kFull;
  return min_confidence > 0 ? WantedOutput::kBestLogProb : WantedOutput::kArgmax;
}

std::optional<TokenId> GreedyChoice(const DraftTask& task, std::span<const TokenId> path,
                                    const RowOutput& output, double min_confidence) {
  if (output.logits.empty()) {
    if (min_confidence > 0 && std::exp(output.log_prob) < min_confidence) return std::nullopt;
    return output.argmax;
  }
  if (min_confidence > 0 && BestProbability(output.logits) < min_confidence) return std::nullopt;
  const History history = {task.committed.first(task.prompt_length),
                           task.committed.subspan(task.prompt_length), path};
  return Distribution::FromLogits(output.logits, Greedy(*task.sampling), history).Argmax();
}

}  // namespace forerun
