#include "drafters/reading/row_timing.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/base/status_macros.h"

namespace forerun {
namespace {

constexpr int kContext = 32;
constexpr int kRepeats = 3;

// Any words do: the time depends on their number.
absl::StatusOr<double> ForwardSeconds(Model& model, BlockTable& table, int rows, WantedOutput wanted,
                                      const Shortlist* shortlist) {
  FORERUN_RETURN_IF_ERROR(table.Reserve(rows));
  ForwardBatch batch;
  batch.shortlist = shortlist;
  for (int i = 0; i < rows; ++i) batch.rows.push_back({.token = i % model.vocab_size(), .wanted = wanted});
  batch.segments.push_back({&table, 0, rows, true});
  const auto start = std::chrono::steady_clock::now();
  FORERUN_RETURN_IF_ERROR(model.Forward(batch).status());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

absl::StatusOr<RowTiming> RowTiming::Measure(Model& model, KvPool& pool, std::span<const int> rows,
                                             const Shortlist* shortlist) {
  RowTiming timing;
  BlockTable table(pool, model.kv_layout_id());
  const int context = std::min(kContext, model.context_length() - rows.back());
  if (context > 0) {
    FORERUN_RETURN_IF_ERROR(ForwardSeconds(model, table, context, WantedOutput::kNone, shortlist).status());
    table.CommitAll();
  }
  for (const int count : rows) {
    if (count > model.context_length()) break;
    double best = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      FORERUN_ASSIGN_OR_RETURN(const double seconds,
                               ForwardSeconds(model, table, count, WantedOutput::kArgmax, shortlist));
      table.Rollback();
      best = std::min(best, seconds);
    }
    timing.rows_.push_back(count);
    timing.seconds_.push_back(best);
  }
  return timing;
}

double RowTiming::Seconds(double rows) const {
  const auto above = std::lower_bound(rows_.begin(), rows_.end(), rows);
  if (above == rows_.end()) return seconds_.back();
  const std::size_t i = above - rows_.begin();
  if (i == 0) return seconds_.front();
  const double share = (rows - rows_[i - 1]) / (rows_[i] - rows_[i - 1]);
  return seconds_[i - 1] + share * (seconds_[i] - seconds_[i - 1]);
}

}  // namespace forerun
