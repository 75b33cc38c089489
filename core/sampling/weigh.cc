// Selection without sorting the vocabulary: a heap or nth_element for top-k, rough weights first for the
// likely words.
#include "core/sampling/weigh.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>

#include "kernels/exact_weights/exact_weights.h"
#include "kernels/softmax_weights/softmax_weights.h"

namespace forerun {
namespace {

constexpr double kRounding = 1 - 1e-5;        // more than what a rough weight may lack
constexpr double kSmallestWeight = 0x1p-126;  // of a rough weight that is not 0
// A heap passes over nearly every value; for larger k selection is the cheaper.
constexpr int kHeapLimit = 512;

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

// weights[i] = exp((logits[i] - best) / temperature)
void Weigh(std::span<const float> logits, float best, float temperature, std::vector<double>& weights) {
  static const KernelFn<ExactWeightsArgs> weigh = kExactWeights.For(DetectIsa());
  weights.resize(logits.size());
  Lane lane;
  weigh({.x = logits.data(),
         .columns = static_cast<int64_t>(logits.size()),
         .largest = best,
         .temperature = temperature,
         .weights = weights.data()},
        {0, 1}, lane);
}

void DropWeightless(WeightedTokens& weighted) {
  if (std::count(weighted.weights.begin(), weighted.weights.end(), 0.0) == 0) return;
  KeepIf(weighted, [](TokenId, double weight) { return weight > 0; });
}

}  // namespace

double LaneSum(std::span<const double> values) {
  constexpr std::size_t kLanes = 8;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  }
  for (; i < values.size(); ++i) lanes[i % kLanes] += values[i];
  return std::accumulate(std::begin(lanes), std::end(lanes), 0.0);
}

WeightedTokens AllWeights(std::span<const float> logits, float best, float temperature) {
  WeightedTokens weighted;
  weighted.tokens.resize(logits.size());
  std::iota(weighted.tokens.begin(), weighted.tokens.end(), 0);
  Weigh(logits, best, temperature, weighted.weights);
  DropWeightless(weighted);
  weighted.sum = LaneSum(weighted.weights);
  return weighted;
}

WeightedTokens TopKWeights(std::span<const float> logits, float best, float temperature, int top_k) {
  const float edge = KthLargest(logits, top_k);
  // How many tokens that equal the edge may stay.
  std::size_t edge_left =
      top_k - std::count_if(logits.begin(), logits.end(), [edge](float logit) { return logit > edge; });
  WeightedTokens weighted;
  std::vector<float> kept;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] < edge) continue;
    if (logits[i] == edge) {
      if (edge_left == 0) continue;
      --edge_left;
    }
    weighted.tokens.push_back(static_cast<TokenId>(i));
    kept.push_back(logits[i]);
  }
  Weigh(kept, best, temperature, weighted.weights);
  DropWeightless(weighted);
  weighted.sum = LaneSum(weighted.weights);
  return weighted;
}

WeightedTokens LikelyWeights(std::span<const float> logits, float best, float temperature, double top_p,
                             double min_p) {
  static const KernelFn<SoftmaxWeightsArgs> weigh = kSoftmaxWeights.For(DetectIsa());
  static const KernelFn<AtLeastArgs> select = kAtLeast.For(DetectIsa());
  thread_local std::vector<float> rough, kept;
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
  likely.tokens.assign(places.begin(), places.begin() + count);
  kept.clear();
  for (const TokenId token : likely.tokens) {
    kept.push_back(logits[token]);
    likely.sum -= rough[token];
  }
  Weigh(kept, best, temperature, likely.weights);
  likely.sum += LaneSum(likely.weights);
  return likely;
}

}  // namespace forerun
