// A run told to a person: a picture, what it means, then the numbers. Made from the run directory alone.
#pragma once

#include <string>
#include <vector>

#include "experiments/report/compare.h"

namespace forerun {

// Bars of speedup, category by category, with a mark where the baseline stands.
std::string SpeedupChart(const std::vector<ComparisonRow>& rows);

// One line for each category: the best arm, or that none is worth it, where the intervals say so.
std::vector<std::string> Verdicts(const std::vector<ComparisonRow>& rows);

// report.md. `rows`: CompareRun(run, {}).
std::string ReportMarkdown(const LoadedRun& run, const std::vector<ComparisonRow>& rows);

}  // namespace forerun
