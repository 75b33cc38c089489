// What a run directory holds, read back: the only thing tables are made from. A torn tail, as a crash leaves
// it, is passed over: a request counts once its line in requests.jsonl is complete, and its rounds stand
// before it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "experiments/run/records.h"

namespace forerun {

inline constexpr char kConfigFile[] = "config.resolved.json";
inline constexpr char kEnvironmentFile[] = "environment.json";
inline constexpr char kRequestsFile[] = "requests.jsonl";
inline constexpr char kRoundsFile[] = "rounds.jsonl";
inline constexpr char kSummaryFile[] = "summary.json";
inline constexpr char kReportFile[] = "report.md";

struct RunRecords {
  std::vector<LoggedRequest> requests;  // in order of finishing
  int64_t requests_bytes = 0;           // length of the two files up to the last complete request
  int64_t rounds_bytes = 0;
};

// DataLoss where a file is damaged elsewhere than at its end, or a request's rounds are missing.
absl::StatusOr<RunRecords> ReadRunRecords(const std::string& directory);

// "arms.1.drafter.type: 1 and 2", or empty where both are equal.
std::string FirstDifference(const Json& a, const Json& b);

}  // namespace forerun
