// Rows of the comparison table, arm x category, from run directories alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "experiments/config/config.h"
#include "experiments/report/metrics.h"
#include "experiments/run/run_files.h"

namespace forerun {

struct LoadedRun {
  std::string directory;
  ExperimentConfig config;
  Json environment;  // environment.json; its "sessions" are not empty
  RunRecords records;
};
absl::StatusOr<LoadedRun> LoadRun(const std::string& directory);

inline constexpr char kAllCategories[] = "all";

struct ComparisonRow {
  std::string run;
  std::string arm;
  std::string category;  // kAllCategories: over everything
  bool is_baseline = false;
  int prompts = 0;   // with a request that was served
  int requests = 0;  // served
  int errors = 0;
  int requests_done = 0;     // of the whole run, failed ones too
  int requests_planned = 0;  // 0: not on record
  int loops = 0;             // requests that end in a loop (loops.h)
  int64_t loop_tokens = 0;   // of all requests, in those loops
  RoundCounts counts;
  TimeSplit time;
  std::optional<double> tau, tau_request_mean, acceptance_rate, coverage;
  Positions positions;
  std::optional<double> tokens_per_second, ms_per_round;
  int paired_prompts = 0;         // those that the speedup is over
  std::optional<double> speedup;  // 1 for the baseline itself
  std::optional<Interval> speedup_interval;
  std::optional<double> draft_cost, verify_cost;  // d, and the verify part of a round over t(1)
  std::optional<Identity> identity;  // nothing where the law does not promise the baseline's very text
  std::string drafter_note;          // Drafter::note() of the arm's requests
  std::string law;                   // LawName()
  std::string arithmetic;            // "bitwise", "tolerance"
};

struct CompareOptions {
  bool by_category = true;
  std::string against;  // the arm to take for the baseline of speedups; empty: the run's own
};

// Every arm, for "all" first and, if `by_category`, for each category in order of appearance. InvalidArgument
// where the run has no arm `against`.
absl::StatusOr<std::vector<ComparisonRow>> CompareRun(const LoadedRun& run, const CompareOptions& options);

}  // namespace forerun
