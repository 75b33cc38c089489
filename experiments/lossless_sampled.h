// Losslessness through the engine, by counting: many texts from tables that are the models, every registered
// drafter under every rule that keeps the law for it. The first, second and last token must have the target's
// law.
//
// Each count is a chi-square test; Holm's correction over all of them keeps the chance that anything is
// called wrong by accident below `family_alarm`. The negative controls go through the same tests, each with
// its own share of the alarm, and must be caught.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace forerun {

struct SampledPlan {
  std::string rule;     // empty: all
  std::string drafter;  // empty: all
  int texts = 20000;
  uint64_t seed = 20231;
  double family_alarm = 1e-6;
};

struct SampledRow {
  std::string drafter;  // "draft_model coupled"
  std::string rule;     // of a control: the mistake
  std::string sampling;
  bool control = false;
  double p_value = 1;  // the least of the tests, each times their number (Bonferroni)
  int tests = 0;
  double acceptance_rate = 0;  // accepted / drafted
  bool rejected = false;       // what is emitted is not the target's law
  bool failed() const { return rejected != control; }
};

struct SampledReport {
  SampledPlan plan;
  std::vector<SampledRow> rows;
  int tests = 0;                      // of all rows that are no controls
  double detectable_shift = 0;        // in total variation: seen in one test with probability 0.99
  std::vector<std::string> left_out;  // drafters that need a file, or heads, of their own
};

absl::StatusOr<SampledReport> RunSampledLaws(const SampledPlan& plan);

}  // namespace forerun
