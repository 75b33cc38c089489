// Top-p without sorting the vocabulary: mass by bucket.
#include "core/sampling/warp.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/base/check.h"
#include "kernels/row_reduce/row_reduce.h"

namespace forerun {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

bool InRow(TokenId token, std::span<const float> logits) {
  return token >= 0 && static_cast<std::size_t>(token) < logits.size();
}

void PenaliseRepetition(const Sampling& sampling, const History& history, std::span<float> logits) {
  if (sampling.repetition_penalty == 1) return;
  absl::flat_hash_set<TokenId> seen;
  for (const std::span<const TokenId> part : {history.prompt, history.output, history.path}) {
    for (const TokenId token : part) {
      if (!InRow(token, logits) || !seen.insert(token).second) continue;
      float& logit = logits[token];
      logit = logit > 0 ? logit / sampling.repetition_penalty : logit * sampling.repetition_penalty;
    }
  }
}

void PenaliseOccurrence(const Sampling& sampling, const History& history, std::span<float> logits) {
  if (sampling.presence_penalty == 0 && sampling.frequency_penalty == 0) return;
  absl::flat_hash_map<TokenId, int> counts;
  for (const std::span<const TokenId> part : {history.output, history.path}) {
    for (const TokenId token : part) ++counts[token];
  }
  for (const auto& [token, count] : counts) {
    if (!InRow(token, logits)) continue;
    logits[token] -= sampling.presence_penalty + sampling.frequency_penalty * static_cast<float>(count);
  }
}

struct Ranked {
  double weight;
  TokenId token;
};

bool RanksBefore(const Ranked& a, const Ranked& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
}

// Positive doubles order as their bits do, so weights fall
// into ascending buckets of 1/256 of a factor of two.
std::size_t Bucket(double weight, double floor) {
  return (std::bit_cast<uint64_t>(weight) - std::bit_cast<uint64_t>(floor)) >> 44;
}

// The last token of the shortest prefix, by rank, whose weights sum to `needed`;
// every token of the prefix weighs at least `floor` > 0. Mass by bucket finds
// the bucket where the prefix ends, so that only its tokens are sorted.
Ranked LastOfPrefix(const WeightedTokens& weighted, double floor, double needed) {
  const double greatest = *std::max_element(weighted.weights.begin(), weighted.weights.end());
  std::vector<double> mass(Bucket(greatest, floor) + 1);
  for (const double weight : weighted.weights) {
    if (weight >= floor) mass[Bucket(weight, floor)] += weight;
  }
  double sum = 0;
  std::size_t bucket = mass.size() - 1;
  while (bucket > 0 && sum + mass[bucket] < needed) sum += mass[bucket--];
  std::vector<Ranked> entries;
  for (std::size_t i = 0; i < weighted.tokens.size(); ++i) {
    const double weight = weighted.weights[i];
    if (weight >= floor && Bucket(weight, floor) == bucket) entries.push_back({weight, weighted.tokens[i]});
  }
  std::sort(entries.begin(), entries.end(), RanksBefore);
  for (const Ranked& entry : entries) {
    sum += entry.weight;
    if (sum >= needed) return entry;
  }
  return entries.back();
}

}  // namespace

TokenId BestLogit(std::span<const float> logits) {
  static const KernelFn<RowReduceArgs> reduce = kRowReduce.For(DetectIsa());
  int32_t best = 0;
  Lane lane;
  const auto columns = static_cast<int64_t>(logits.size());
  reduce({.x = logits.data(), .stride = columns, .columns = columns, .argmax = &best}, {0, 1}, lane);
  return logits[best] > kMinusInfinity ? best : 0;
}

std::vector<float> AdjustLogits(std::span<const float> logits, const Sampling& sampling,
                                const History& history) {
  std::vector<float> adjusted(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    adjusted[i] = logits[i] >= kMinusInfinity ? logits[i] : kMinusInfinity;
  }
  PenaliseRepetition(sampling, history, adjusted);
  PenaliseOccurrence(sampling, history, adjusted);
  for (const auto& [token, bias] : sampling.logit_bias) {
    if (InRow(token, adjusted)) adjusted[token] += bias;
  }
  return adjusted;
}

void KeepTopP(WeightedTokens& weighted, double top_p) {
  if (top_p >= 1) return;
  const double sum = weighted.sum;
  const double floor = TopPFloor(sum, top_p, weighted.tokens.size());
  const Ranked last = LastOfPrefix(weighted, floor, top_p * sum);
  KeepIf(weighted, [&last](TokenId token, double weight) { return !RanksBefore(last, {weight, token}); });
}

void KeepMinP(WeightedTokens& weighted, double min_p) {
  if (min_p <= 0) return;
  const double floor = min_p * *std::max_element(weighted.weights.begin(), weighted.weights.end());
  KeepIf(weighted, [floor](TokenId, double weight) { return weight >= floor; });
}

}  // namespace forerun
