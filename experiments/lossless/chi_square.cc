#include "experiments/lossless/chi_square.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/check.h"

namespace forerun {
namespace {

struct Cell {
  double expected = 0;
  double observed = 0;
};

// Merges the smallest cells, one into the next, until each expects at least 5.
std::vector<Cell> MergeSmall(std::vector<Cell> cells) {
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) { return a.expected < b.expected; });
  std::vector<Cell> merged;
  Cell open;
  for (const Cell& cell : cells) {
    open.expected += cell.expected;
    open.observed += cell.observed;
    if (open.expected < 5) continue;
    merged.push_back(open);
    open = {};
  }
  if (open.expected > 0 && !merged.empty()) {
    merged.back().expected += open.expected;
    merged.back().observed += open.observed;
  }
  return merged;
}

// Lower series: P(a, x) = x^a e^-x / Gamma(a) * sum x^n / (a (a+1) .. (a+n)).
double LowerBySeries(double a, double x) {
  double term = 1 / a;
  double sum = term;
  for (int n = 1; n < 100000 && term > sum * 1e-17; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

// Q's continued fraction (Abramowitz & Stegun 6.5.31), evaluated by Lentz's method.
double UpperByFraction(double a, double x) {
  double b = x + 1 - a;
  double c = 1e300;
  double d = 1 / b;
  double value = d;
  for (int n = 1; n < 100000; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    value *= c * d;
    if (std::abs(c * d - 1) < 1e-16) break;
  }
  return value * std::exp(a * std::log(x) - x - std::lgamma(a));
}

}  // namespace

double UpperRegularizedGamma(double a, double x) {
  FORERUN_CHECK(a > 0 && x >= 0);
  if (x == 0) return 1;
  return x < a + 1 ? 1 - LowerBySeries(a, x) : UpperByFraction(a, x);
}

double ChiSquarePValue(std::span<const int64_t> observed, std::span<const double> expected_probability) {
  FORERUN_CHECK(observed.size() == expected_probability.size());
  int64_t total = 0;
  for (const int64_t count : observed) total += count;
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (expected_probability[i] > 0) {
      cells.push_back({expected_probability[i] * total, static_cast<double>(observed[i])});
    } else if (observed[i] > 0) {
      return 0;
    }
  }
  cells = MergeSmall(std::move(cells));
  if (cells.size() < 2) return 1;
  double statistic = 0;
  for (const Cell& cell : cells) {
    const double difference = cell.observed - cell.expected;
    statistic += difference * difference / cell.expected;
  }
  return UpperRegularizedGamma(0.5 * (cells.size() - 1), 0.5 * statistic);
}

// Deviations d of the cells' probabilities e have sum |d| = 2 shift, so sum d^2 / e >= 4 shift^2: the
// statistic is at least chi-square with noncentrality 4 count shift^2, a Poisson mixture of central ones.
double ChiSquarePower(int cells, int64_t count, double shift, double alarm) {
  FORERUN_CHECK(cells >= 2 && count > 0 && alarm > 0 && alarm < 1);
  const double half_degrees = 0.5 * (cells - 1);
  double low = 0, high = 1;
  while (UpperRegularizedGamma(half_degrees, high) > alarm) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (UpperRegularizedGamma(half_degrees, middle) > alarm ? low : high) = middle;
  }
  const double mean = 2 * static_cast<double>(count) * shift * shift;
  const int most = static_cast<int>(mean + 12 * std::sqrt(mean + 1) + 50);
  double power = 0;
  for (int j = 0; j <= most; ++j) {
    const double weight = mean == 0 ? j == 0 : std::exp(j * std::log(mean) - mean - std::lgamma(j + 1.0));
    power += weight * UpperRegularizedGamma(half_degrees + j, high);
  }
  return power;
}

std::vector<bool> HolmRejections(std::span<const double> p_values, double alarm) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&p_values](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<bool> rejected(p_values.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (p_values[order[i]] > alarm / static_cast<double>(order.size() - i)) break;
    rejected[order[i]] = true;
  }
  return rejected;
}

}  // namespace forerun
