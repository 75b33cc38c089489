// What the laboratories found, as Markdown tables and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "experiments/lossless/controls.h"
#include "experiments/lossless/counts.h"
#include "experiments/lossless/exact.h"
#include "experiments/lossless/greedy.h"

namespace forerun {

struct LosslessReport {
  std::vector<ExactRow> exact;
  std::vector<Control> controls;
  std::optional<SampledReport> sampled;  // on tables
  std::optional<SampledReport> model;    // on a model
  std::optional<GreedyReport> greedy;

  void Judge();  // both of the counts, together
  int checks() const;
  int failures() const;  // laws that are not kept, and mistakes that were not seen
};

std::string LosslessText(const LosslessReport& report);
Json LosslessJson(const LosslessReport& report);

}  // namespace forerun
