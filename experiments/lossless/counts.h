// Many texts through the engine, and chi-square tests of how often each token was emitted at some places.
//
// Holm's correction over all tests, of all reports together, keeps the chance that anything is called wrong
// by accident below kFamilyAlarm. Negative controls go through the same tests, each with its own share of the
// alarm, and must be caught.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/engine/request.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"

namespace forerun {

inline constexpr double kFamilyAlarm = 1e-6;

using HeadsOf = std::map<std::string, std::string>;  // drafter: a folder of heads trained for the target

struct SampledRow {
  std::string drafter;  // "draft_model coupled"
  std::string rule;     // of a control: the mistake
  std::string sampling = "";
  bool control = false;
  std::vector<double> p_values = {};  // one a test
  double acceptance_rate = 0;         // accepted / drafted
  bool rejected = false;              // what is emitted is not the target's law

  double p_value() const;  // the least, times their number (Bonferroni)
  bool failed() const { return rejected != control; }
};

struct SampledReport {
  int texts = 0;
  uint64_t seed = 0;
  int cells = 2;  // most tokens that a place can have
  std::vector<SampledRow> rows = {};
  std::vector<std::string> left_out = {};  // drafters that were not run, and why
  // Made by JudgeTogether().
  int tests = 0;                // of all rows that are no controls
  double detectable_shift = 0;  // in total variation: seen in one test with probability 0.99
};

// `request`, written so many times, with the ids 0, 1, ...; the first text that failed is the error.
absl::StatusOr<std::vector<RequestResult>> WriteTexts(Model& target, KvPool& pool, const Request& request,
                                                      int texts);

double AcceptanceRate(std::span<const RequestResult> results);  // accepted / drafted; 0 without drafts

// The target's law of the token at one place of the output.
struct PlaceLaw {
  int place = 0;
  std::vector<double> law;  // [vocab]
};
// Fills the row's tests and its acceptance rate.
void CountTokens(std::span<const RequestResult> results, std::span<const PlaceLaw> laws, SampledRow& row);

// Says of every row whether it is rejected.
void JudgeTogether(std::span<SampledReport* const> reports);

}  // namespace forerun
