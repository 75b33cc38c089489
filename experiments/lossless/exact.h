// The exact laboratory: every rule under every kind of draft that it accepts, on small tables, through every
// outcome of two rounds or more. What is emitted must have the target's law to rounding.
#pragma once

#include <string>
#include <vector>

#include "core/verify/registry.h"

namespace forerun {

inline constexpr double kExactBias = 1e-12;

struct ExactRow {
  std::string rule;
  std::string draft = "";  // "sampled tree"
  bool greedy = false;     // temperature 0: the target's rows are point masses
  Law law = Law::kExact;
  double worst_bias = 0;  // total variation over the emitted tokens, worst case
  std::string worst_case = "";
  int cases = 0;

  bool promises() const { return law == Law::kExact || law == Law::kGreedyIdentical; }
  bool failed() const { return promises() && !(worst_bias <= kExactBias); }
};

// `rule`: one rule only; empty: all. Each case is played on `tables` pairs of tables: one pair may be blind
// to a mistake.
std::vector<ExactRow> RunExactLaws(const std::string& rule, int tables);

}  // namespace forerun
