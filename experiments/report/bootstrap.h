// Percentile bootstrap of a ratio of sums over prompts: the prompts are resampled, pairs stay together.
// Efron & Tibshirani 1993, ch. 13. Keyed draws: the same data give the same interval.
#pragma once

#include <optional>
#include <span>

namespace forerun {

struct RatioTerm {
  double numerator = 0;
  double denominator = 0;
};

struct Interval {
  double low = 0;
  double high = 0;
};

double RatioOfSums(std::span<const RatioTerm> terms);
// 95 %; nothing with fewer than two terms, of which no spread can be known.
std::optional<Interval> BootstrapRatio(std::span<const RatioTerm> terms);

}  // namespace forerun
