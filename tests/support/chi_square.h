// Pearson's test: are these counts draws from that distribution?
#pragma once

#include <cstdint>
#include <span>

namespace forerun {

// The chance of a statistic this large or larger if `observed` were drawn from
// `expected_probability` (same length, sums to 1). Cells that expect fewer
// than 5 are merged. 0 where something happened that has no probability.
double ChiSquarePValue(std::span<const int64_t> observed, std::span<const double> expected_probability);

// Q(a, x) = Gamma(a, x) / Gamma(a), a > 0, x >= 0.
double UpperRegularizedGamma(double a, double x);

}  // namespace forerun
