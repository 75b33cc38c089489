// t(n): how long a model takes for a forward over n rows, on this machine.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"

namespace forerun {

class RowTiming {
 public:
  // The best of three forwards for each of `rows` (ascending), after a short context, in pages of their own.
  static absl::StatusOr<RowTiming> Measure(Model& model, KvPool& pool, std::span<const int> rows,
                                           const Shortlist* shortlist);

  // Between measured numbers on a straight line, outside them as at the nearest.
  double Seconds(double rows) const;

 private:
  std::vector<int> rows_;
  std::vector<double> seconds_;  // same length
};

}  // namespace forerun
