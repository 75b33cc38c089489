// Pearson's test: are these counts draws from that distribution?
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace forerun {

// The chance of a statistic this large or larger if `observed` were drawn from
// `expected_probability` (same length, sums to 1). Cells that expect fewer
// than 5 are merged. 0 where something happened that has no probability.
double ChiSquarePValue(std::span<const int64_t> observed, std::span<const double> expected_probability);

// The chance that the test above calls p-values below `alarm` wrong, with `cells` cells and `count` draws,
// where the draws' law is `shift` away in total variation, spread in the way that is the hardest to see.
double ChiSquarePower(int cells, int64_t count, double shift, double alarm);

// Which of the p-values are rejected where the chance of any false rejection is at most `alarm` (Holm 1979).
std::vector<bool> HolmRejections(std::span<const double> p_values, double alarm);

// Q(a, x) = Gamma(a, x) / Gamma(a), a > 0, x >= 0.
double UpperRegularizedGamma(double a, double x);

}  // namespace forerun
