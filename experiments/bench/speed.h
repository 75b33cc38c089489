// The speed of one model in several settings, taken in turns so that ratios come from one run, beside what
// the machine allows and beside the likelihood of a text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "experiments/bench/model_bench.h"
#include "experiments/bench/roofline.h"
#include "experiments/config/config.h"
#include "experiments/config/fusion_config.h"
#include "experiments/run/machine.h"

namespace forerun {

struct SpeedPlan {
  std::string model;
  std::vector<std::string> numerics = {"a8"};  // "a8", "f32"
  std::vector<NamedFusion> fusions = {{"all", {}}};
  std::vector<int> contexts = {64};  // tokens before the rows
  std::vector<int> rows = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16};
  int repeat = 5;            // rounds over all settings
  int prefill = 512;         // tokens; 0: not timed
  std::vector<TokenId> ids;  // to score; empty: those of the sample text
  ModelBenchOptions bench;
};

struct SpeedOfRows {
  int rows = 0;
  std::vector<double> samples_ms;

  double best_ms() const;
  double median_ms() const;
};

// Median over the rounds of a's sample over b's: what a machine whose speed changes from minute to minute
// does not spoil.
double PairedRatio(const std::vector<double>& a, const std::vector<double>& b);

struct SpeedOfSetting {
  std::string numerics;
  NamedFusion fusion;
  int context = 0;
  std::vector<SpeedOfRows> rows;        // as in the plan
  std::vector<double> prefill_seconds;  // of the first context only
  std::optional<double> nll;            // mean, nats; of the first context only

  std::string name() const;  // "a8, all, context 64"
};

// What a setting's times are compared with.
struct Ceilings {
  double read_gb_s = 0;         // best of the run
  double median_read_gb_s = 0;  // Roofline::median_read_gb_s
  double fma_gmac_s = 0;
  double gmac_s = 0;  // of the model's own mix of products under the setting's numerics
};

struct SpeedReport {
  std::string path, isa, output;
  int threads = 0;
  int prefill = 0;
  int nll_ids = 0;
  struct OfNumerics {
    std::string numerics;
    std::vector<ModelMatrix> matrices;
    Ceilings ceilings;
  };
  std::vector<OfNumerics> numerics;
  std::vector<SpeedOfSetting> settings;

  const OfNumerics& of(const SpeedOfSetting& setting) const;
};

// Progress goes to stderr.
absl::StatusOr<SpeedReport> MeasureSpeed(Machine& machine, Roofline& roofline, const SpeedPlan& plan);

// The first setting's keys are the object's own, and "settings" has all of them.
Json SpeedJson(const SpeedReport& report);
// Two or three lines: the model, the machine and its ceilings.
std::string SpeedHead(const SpeedReport& report);
// One table a setting, of every number; then, where there are several settings, one of their times.
std::string SpeedText(const SpeedReport& report);
// A line a setting: ms at every number of rows and prefill tokens/s, each with its ratio to the first's.
std::string SettingsTable(const SpeedReport& report);

}  // namespace forerun
