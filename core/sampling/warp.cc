// Selection without sorting the vocabulary: a heap or nth_element for top-k, mass by bucket for top-p.
#include "core/sampling/warp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/base/check.h"
#include "kernels/row_reduce/row_reduce.h"
#include "kernels/softmax_weights/softmax_weights.h"

namespace forerun {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr double kRounding = 1 - 1e-5;        // more than what a rough weight may lack
constexpr double kSmallestWeight = 0x1p-126;  // of a rough weight that is not 0
constexpr int kHeapLimit =
    512;  // a heap passes over nearly every value; for large k selection is the cheaper

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

// 1 <= k <= values.size(), no NaN.
float KthLargest(std::span<const float> values, int k) {
  std::vector<float> kept(values.begin(), k <= kHeapLimit ? values.begin() + k : values.end());
  if (k > kHeapLimit) {
    std::nth_element(kept.begin(), kept.begin() + (k - 1), kept.end(), std::greater<>());
    return kept[k - 1];
  }
  std::make_heap(kept.begin(), kept.end(), std::greater<>());
  for (const float value : values.subspan(k)) {
    if (value <= kept.front()) continue;
    std::pop_heap(kept.begin(), kept.end(), std::greater<>());
    kept.back() = value;
    std::push_heap(kept.begin(), kept.end(), std::greater<>());
  }
  return kept.front();
}

struct Ranked {
  double weight;
  TokenId token;
};

bool RanksBefore(const Ranked& a, const Ranked& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
}

template <typename Predicate>
void Keep(WeightedTokens& weighted, Predicate stays) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < weighted.tokens.size(); ++i) {
    const Ranked entry = {weighted.weights[i], weighted.tokens[i]};
    if (!stays(entry)) continue;
    weighted.tokens[kept] = entry.token;
    weighted.weights[kept++] = entry.weight;
  }
  weighted.tokens.resize(kept);
  weighted.weights.resize(kept);
}

// Positive doubles order as their bits do, so weights fall
// into ascending buckets of 1/256 of a factor of two.
std::size_t Bucket(double weight, double floor) {
  return (std::bit_cast<uint64_t>(weight) - std::bit_cast<uint64_t>(floor)) >> 44;
}

// All tokens below this weight together hold less than 1 - top_p of the sum: the shortest prefix that holds
// top_p lies among the others. The rest of the factor pays for rounding, and for tokens that are already left
// out by a floor of their own.
double TopPFloor(double sum, double top_p, std::size_t tokens) {
  return 0.25 * (1 - top_p) * sum / static_cast<double>(tokens);
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

WeightedTokens TopKWeights(std::span<const float> logits, float best, float temperature, int top_k) {
  const bool limited = top_k > 0 && static_cast<std::size_t>(top_k) < logits.size();
  float edge = kMinusInfinity;
  std::size_t edge_left = logits.size();  // how many tokens that equal the edge may stay
  if (limited) {
    edge = KthLargest(logits, top_k);
    edge_left =
        top_k - std::count_if(logits.begin(), logits.end(), [edge](float logit) { return logit > edge; });
  }
  WeightedTokens weighted;
  const std::size_t capacity = limited ? top_k : logits.size();
  weighted.tokens.reserve(capacity);
  weighted.weights.reserve(capacity);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] < edge) continue;
    if (logits[i] == edge) {
      if (edge_left == 0) continue;
      --edge_left;
    }
    const double weight = std::exp((static_cast<double>(logits[i]) - best) / temperature);
    if (weight == 0) continue;
    weighted.tokens.push_back(static_cast<TokenId>(i));
    weighted.weights.push_back(weight);
  }
  weighted.sum = std::accumulate(weighted.weights.begin(), weighted.weights.end(), 0.0);
  return weighted;
}

WeightedTokens LikelyWeights(std::span<const float> logits, float best, float temperature, double top_p,
                             double min_p) {
  static const KernelFn<SoftmaxWeightsArgs> weigh = kSoftmaxWeights.For(DetectIsa());
  static const KernelFn<AtLeastArgs> select = kAtLeast.For(DetectIsa());
  thread_local std::vector<float> rough;
  thread_local std::vector<int32_t> places;
  const auto columns = static_cast<int64_t>(logits.size());
  rough.resize(logits.size());
  places.resize(logits.size());
  WeightedTokens likely;
  Lane lane;
  weigh({.x = logits.data(),
         .columns = columns,
         .largest = best,
         .temperature = temperature,
         .weights = rough.data(),
         .sum = &likely.sum},
        {0, 1}, lane);
  // What top_p may keep is not cut by min_p: its edge is a share of all.
  const double floor = top_p < 1 ? TopPFloor(likely.sum, top_p, logits.size()) : min_p * kRounding;
  int64_t count = 0;
  select({.x = rough.data(),
          .columns = columns,
          .floor = static_cast<float>(std::max(floor, kSmallestWeight)),
          .places = places.data(),
          .count = &count},
         {0, 1}, lane);
  for (const int32_t place : std::span(places).first(count)) {
    const double weight = std::exp((static_cast<double>(logits[place]) - best) / temperature);
    likely.tokens.push_back(place);
    likely.weights.push_back(weight);
    likely.sum += weight - rough[place];
  }
  return likely;
}

void KeepTopP(WeightedTokens& weighted, double top_p) {
  if (top_p >= 1) return;
  const double sum = weighted.sum;
  const double floor = TopPFloor(sum, top_p, weighted.tokens.size());
  const Ranked last = LastOfPrefix(weighted, floor, top_p * sum);
  Keep(weighted, [&last](const Ranked& entry) { return !RanksBefore(last, entry); });
}

void KeepMinP(WeightedTokens& weighted, double min_p) {
  if (min_p <= 0) return;
  const double floor = min_p * *std::max_element(weighted.weights.begin(), weighted.weights.end());
  Keep(weighted, [floor](const Ranked& entry) { return entry.weight >= floor; });
}

}  // namespace forerun
