#include "experiments/report/report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "experiments/report/comparison_table.h"

namespace forerun {
namespace {

constexpr int kColumnsPerUnit = 16;  // columns of the chart for a speedup of 1
constexpr double kWidestBar = 4;
constexpr int kLeastPrompts = 4;  // of a verdict: fewer say little, however narrow the interval

std::size_t LongestName(const std::vector<ComparisonRow>& rows) {
  std::size_t longest = 0;
  for (const ComparisonRow& row : rows) longest = std::max(longest, TextWidth(row.arm));
  return longest;
}

// '#' up to the speedup, '|' where the baseline stands.
std::string Bar(double speedup) {
  const int length = static_cast<int>(std::lround(std::min(speedup, kWidestBar) * kColumnsPerUnit));
  std::string bar(std::max(length, kColumnsPerUnit + 1), ' ');
  std::fill(bar.begin(), bar.begin() + length, '#');
  bar[kColumnsPerUnit] = '|';
  return bar;
}

std::string IntervalText(const ComparisonRow& row) {
  return absl::StrFormat("%.2fx [%.2f, %.2f]", *row.speedup, row.speedup_interval->low,
                         row.speedup_interval->high);
}

std::string VerdictOf(const std::string& category, const std::vector<const ComparisonRow*>& arms) {
  const ComparisonRow* best = nullptr;
  for (const ComparisonRow* arm : arms) {
    if (arm->paired_prompts < kLeastPrompts) continue;
    if (arm->speedup_interval && (best == nullptr || *arm->speedup > *best->speedup)) best = arm;
  }
  if (best == nullptr) {
    return absl::StrCat(category, ": too few prompts for a verdict (at least ", kLeastPrompts, ")");
  }
  const std::string what = absl::StrCat(best->arm, " ", IntervalText(*best));
  if (best->speedup_interval->high < 1) {
    return absl::StrCat(category,
                        ": do not speculate here: the best arm is slower than the baseline: ", what);
  }
  if (best->speedup_interval->low > 1) return absl::StrCat(category, ": speculation pays: ", what);
  return absl::StrCat(category, ": no clear difference: the best arm is ", what);
}

// Rows other than the baseline's, by category in order.
std::vector<std::pair<std::string, std::vector<const ComparisonRow*>>> ByCategory(
    const std::vector<ComparisonRow>& rows) {
  std::vector<std::pair<std::string, std::vector<const ComparisonRow*>>> groups;
  for (const ComparisonRow& row : rows) {
    if (groups.empty() || groups.back().first != row.category) groups.push_back({row.category, {}});
    if (!row.is_baseline) groups.back().second.push_back(&row);
  }
  return groups;
}

std::string Environment(const LoadedRun& run) {
  const Json& session = run.environment["sessions"].back();
  const auto text = [&session](const char* pointer) {
    const Json value = session.value(Json::json_pointer(pointer), Json("unknown"));
    return value.is_string() ? value.get<std::string>() : DumpJson(value);
  };
  return absl::StrCat("Target `", run.config.target, "`",
                      run.config.draft.empty() ? "" : absl::StrCat(", draft `", run.config.draft, "`"), "; ",
                      text("/cpu/model"), ", ", text("/threads"), " threads, ", text("/isa"), ", numerics ",
                      text("/numerics"), ", KV ", text("/kv_dtype"), "; build ", text("/build/git"), " (",
                      text("/build/type"), "). Sessions: ", run.environment["sessions"].size(), ".\n");
}

}  // namespace

std::string SpeedupChart(const std::vector<ComparisonRow>& rows) {
  const std::size_t width = LongestName(rows);
  std::string chart;
  for (const auto& [category, arms] : ByCategory(rows)) {
    absl::StrAppend(&chart, category, "\n");
    for (const ComparisonRow* arm : arms) {
      const std::string name = arm->arm + std::string(width - TextWidth(arm->arm), ' ');
      const std::string bar = arm->speedup ? Bar(*arm->speedup) : std::string(kColumnsPerUnit, ' ') + "|";
      const std::string number = arm->speedup ? absl::StrFormat("%.2fx", *arm->speedup) : "no pair yet";
      absl::StrAppend(&chart, "  ", name, "  ", bar, " ", number, "\n");
    }
  }
  return chart;
}

std::vector<std::string> Verdicts(const std::vector<ComparisonRow>& rows) {
  std::vector<std::string> verdicts;
  for (const auto& [category, arms] : ByCategory(rows)) {
    if (!arms.empty()) verdicts.push_back(VerdictOf(category, arms));
  }
  return verdicts;
}

std::string ReportMarkdown(const LoadedRun& run, const std::vector<ComparisonRow>& rows) {
  std::string report = absl::StrCat("# ", run.config.name, "\n\n", Environment(run), "\n");
  if (run.config.arms.size() > 1) {
    absl::StrAppend(&report, "Speedup over `", run.config.arms[run.config.baseline].name,
                    "`, which stands at the bar `|`:\n\n```\n", SpeedupChart(rows), "```\n\n");
    for (const std::string& verdict : Verdicts(rows)) absl::StrAppend(&report, "- ", verdict, "\n");
    report += "\n";
  }
  return report + ComparisonMarkdown(rows);
}

}  // namespace forerun
