// Runs every arm of a prepared experiment over every prompt, in the schedule's order, and logs each request.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/run/prepared_experiment.h"

namespace forerun {

struct RunOptions {
  std::string directory;
  bool resume = false;
  double budget_minutes = 0;  // 0: no limit
};

enum class RunEnd { kComplete, kBudgetSpent, kInterrupted };

struct RunOutcome {
  RunEnd end = RunEnd::kComplete;
  int done = 0;  // requests with a row, of earlier sessions too
  int total = 0;
  std::vector<std::string> errors;  // "<unit>: <why>" of every request on record that failed
};

// Stops between requests when interrupted, and before a prompt that would likely end after the budget. What
// has been logged then can be resumed.
absl::StatusOr<RunOutcome> RunExperiment(const PreparedExperiment& experiment, const RunOptions& options);

}  // namespace forerun
