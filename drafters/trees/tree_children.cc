#include "drafters/trees/tree_children.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/model/top_tokens.h"
#include "core/sampling/warp.h"
#include "core/verify/verifier.h"
#include "drafters/reading/greedy_choice.h"

namespace forerun {
namespace {

double LogSumExp(std::span<const float> logits) {
  const double best = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - best);
  return best + std::log(sum);
}

History HistoryOf(const DraftTask& task, std::span<const TokenId> path) {
  return {task.committed.first(task.prompt_length), task.committed.subspan(task.prompt_length), path};
}

}  // namespace

bool Draws(ChildSampling sampling, const Sampling& of_request) {
  return sampling != ChildSampling::kGreedy && !of_request.greedy();
}

Proposal ProposalOf(ChildSampling sampling, const Sampling& of_request) {
  if (!Draws(sampling, of_request) || sampling == ChildSampling::kCoupled) return Proposal::kDeterministic;
  return sampling == ChildSampling::kSampled ? Proposal::kSampled : Proposal::kSampledWithoutReplacement;
}

WantedOutput WantedForBest(const Sampling& sampling, int count, bool scored) {
  const WantedOutput of_the_best = WantedForGreedy(sampling, /*min_confidence=*/0);
  if (of_the_best == WantedOutput::kFull) return of_the_best;
  if (scored) return WantedOutput::kTopKLogProb;
  return count == 1 ? of_the_best : WantedOutput::kTopK;
}

std::vector<ScoredChild> BestChildren(const DraftTask& task, std::span<const TokenId> path,
                                      const RowOutput& output, int count) {
  std::vector<ScoredChild> children;
  std::vector<ScoredToken> best;
  double log_sum_exp;
  if (!output.logits.empty()) {
    const std::vector<float> adjusted = AdjustLogits(output.logits, *task.sampling, HistoryOf(task, path));
    best = BestTokens(adjusted, count);
    log_sum_exp = LogSumExp(adjusted);
  } else if (!output.top.empty()) {
    best = output.top;
    log_sum_exp = output.best_logit - output.log_prob;
  } else {
    return {{output.argmax, 0}};
  }
  for (const ScoredToken& token : best) {
    if (static_cast<int>(children.size()) == count) break;
    children.push_back({token.token, std::min(0.0, token.logit - log_sum_exp)});
  }
  return children;
}

Distribution DraftDistribution(const DraftTask& task, int node, const RowOutput& output) {
  const std::vector<TokenId> path = task.tree->PathTokens(node);
  return Distribution::FromLogits(output.logits, *task.sampling, HistoryOf(task, path));
}

std::vector<TokenId> RaceOrder(const Distribution& q, const RandomKey& key, int count) {
  // -log(u) >= 1 - u, so most tokens are seen to lose before the logarithm; the margin covers all rounding.
  constexpr double kMargin = 1 - 1e-9;
  const RandomStream stream(key);
  std::vector<std::pair<double, TokenId>> first;  // a heap, the latest on top
  for (std::size_t i = 0; i < q.tokens().size(); ++i) {
    const double probability = q.probabilities()[i];
    const double u = stream.PositiveUniform(q.tokens()[i]);
    const bool full = static_cast<int>(first.size()) == count;
    if (full && (1 - u) * kMargin > first.front().first * probability) continue;
    first.emplace_back(NegativeLog(u) / probability, q.tokens()[i]);
    std::push_heap(first.begin(), first.end());
    if (!full) continue;
    std::pop_heap(first.begin(), first.end());
    first.pop_back();
  }
  std::sort_heap(first.begin(), first.end());
  std::vector<TokenId> tokens;
  for (const auto& [clock, token] : first) tokens.push_back(token);
  return tokens;
}

RandomKey ChildRaceKey(const DraftTask& task, int node) {
  return {task.sampling->seed, task.request, task.committed.size(), static_cast<uint64_t>(node),
          Purpose::kDraft};
}

void AddDrawnChildren(DraftTask& task, int node, ChildSampling sampling, Distribution q, int count) {
  TokenTree& tree = *task.tree;
  const uint64_t seed = task.sampling->seed, committed = task.committed.size();
  switch (sampling) {
    case ChildSampling::kSampled:
      tree.SetProposal(node, Proposal::kSampled, q);
      for (int i = 0; i < count; ++i) {
        const uint64_t child = tree.size();
        tree.Add(node, q.DrawAt(Uniform({seed, task.request, committed, child, Purpose::kDraft})));
      }
      return;
    case ChildSampling::kSampledWithoutReplacement:
      for (const TokenId token : RaceOrder(q, ChildRaceKey(task, node), count)) tree.Add(node, token);
      tree.SetProposal(node, Proposal::kSampledWithoutReplacement, std::move(q));
      return;
    case ChildSampling::kCoupled: {
      const int64_t position = static_cast<int64_t>(committed) + tree.node(node).depth;
      for (const TokenId token : RaceOrder(q, TargetDrawKey(seed, task.request, position), count)) {
        tree.Add(node, token);
      }
      return;
    }
    case ChildSampling::kGreedy:
      FORERUN_CHECK(false);
  }
}

}  // namespace forerun
