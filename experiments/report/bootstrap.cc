#include "experiments/report/bootstrap.h"

#include <algorithm>
#include <vector>

#include "core/base/random.h"

namespace forerun {
namespace {

constexpr int kResamples = 2000;
constexpr uint64_t kSeed = 0x626f6f74;  // any fixed number

}  // namespace

double RatioOfSums(std::span<const RatioTerm> terms) {
  RatioTerm sum;
  for (const RatioTerm& term : terms) {
    sum.numerator += term.numerator;
    sum.denominator += term.denominator;
  }
  return sum.denominator > 0 ? sum.numerator / sum.denominator : 0;
}

std::optional<Interval> BootstrapRatio(std::span<const RatioTerm> terms) {
  if (terms.size() < 2) return std::nullopt;
  std::vector<double> ratios;
  std::vector<RatioTerm> resample(terms.size());
  for (int i = 0; i < kResamples; ++i) {
    const RandomKey key = {.seed = kSeed, .request = static_cast<uint64_t>(i)};
    for (std::size_t j = 0; j < terms.size(); ++j) {
      const double u = Uniform(key, j);
      resample[j] = terms[static_cast<std::size_t>(u * static_cast<double>(terms.size()))];
    }
    ratios.push_back(RatioOfSums(resample));
  }
  std::sort(ratios.begin(), ratios.end());
  return Interval{ratios[kResamples * 25 / 1000], ratios[kResamples * 975 / 1000 - 1]};
}

}  // namespace forerun
