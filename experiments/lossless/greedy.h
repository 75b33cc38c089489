// Losslessness at temperature 0 on a real model: every registered drafter under every rule that keeps the law
// for it must write the very tokens of plain decoding.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/config/config.h"
#include "experiments/lossless/counts.h"

namespace forerun {

struct GreedyPlan {
  std::string target;
  std::string draft;          // empty: drafters that need one are left out
  std::string rule, drafter;  // empty: all
  HeadsOf heads = {};
  int new_tokens = 48;
  EngineConfig engine = {};
};

struct GreedyRow {
  std::string drafter, rule;
  int tokens = 0;     // of all texts
  int different = 0;  // texts that differ from plain decoding's
  int texts = 0;
  double acceptance_rate = 0;
  bool failed() const { return different > 0; }
};

struct GreedyReport {
  std::vector<GreedyRow> rows = {};
  std::vector<std::string> left_out = {};  // "medusa (needs heads)"
};

// A drafter that needs a corpus or a log gets one of the prompts' own texts. Shows its progress on stderr.
absl::StatusOr<GreedyReport> RunGreedyTexts(const GreedyPlan& plan);

}  // namespace forerun
