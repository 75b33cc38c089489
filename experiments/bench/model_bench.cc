#include "experiments/bench/model_bench.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

ModelBench::ModelBench(Model& model, KvPool& pool, const ModelBenchOptions& options)
    : model_(model), pool_(pool), options_(options) {}

absl::Status ModelBench::CheckFits(int tokens) const {
  if (tokens <= model_.context_length()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("expected at most ", model_.context_length(), " tokens (the context), found ", tokens));
}

ForwardBatch ModelBench::MakeBatch(BlockTable& table, int rows, WantedOutput wanted,
                                   WantedOutput wanted_last) const {
  ForwardBatch batch;
  batch.segments.push_back({.table = &table, .num_rows = rows});
  for (int i = 0; i < rows; ++i) {
    const int position = table.committed() + i;
    batch.rows.push_back({.token = (position * 17 + 11) % model_.vocab_size(),
                          .parent = i - 1,
                          .wanted = i + 1 < rows ? wanted : wanted_last});
  }
  return batch;
}

absl::Status ModelBench::Fill(BlockTable& table, int tokens) {
  while (table.committed() < tokens) {
    const int rows = std::min(options_.prefill_chunk, tokens - table.committed());
    const bool last = table.committed() + rows == tokens;
    FORERUN_RETURN_IF_ERROR(table.Reserve(rows));
    const ForwardBatch batch =
        MakeBatch(table, rows, WantedOutput::kNone, last ? WantedOutput::kArgmax : WantedOutput::kNone);
    FORERUN_RETURN_IF_ERROR(model_.Forward(batch).status());
    table.CommitAll();
  }
  return absl::OkStatus();
}

absl::Status ModelBench::Prepare(int context) {
  if (contexts_.contains(context)) return absl::OkStatus();
  FORERUN_RETURN_IF_ERROR(CheckFits(context));
  const auto longer = contexts_.upper_bound(context);
  BlockTable table = longer == contexts_.begin() ? BlockTable(pool_, model_.kv_layout_id())
                                                 : std::prev(longer)->second.Fork();
  FORERUN_RETURN_IF_ERROR(Fill(table, context));
  contexts_.emplace(context, std::move(table));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> ModelBench::TimeRows(int context, int rows, int repeat) {
  FORERUN_RETURN_IF_ERROR(CheckFits(context + rows));
  FORERUN_RETURN_IF_ERROR(Prepare(context));
  BlockTable& table = contexts_.at(context);
  std::vector<double> milliseconds;
  for (int i = 0; i <= repeat; ++i) {
    FORERUN_RETURN_IF_ERROR(table.Reserve(rows));
    const ForwardBatch batch = MakeBatch(table, rows, options_.wanted, options_.wanted);
    const Clock::time_point start = Clock::now();
    const absl::Status status = model_.Forward(batch).status();
    const double seconds = SecondsSince(start);
    table.Rollback();
    FORERUN_RETURN_IF_ERROR(status);
    if (i > 0) milliseconds.push_back(seconds * 1e3);
  }
  return milliseconds;
}

absl::StatusOr<double> ModelBench::TimePrefill(int tokens) {
  FORERUN_RETURN_IF_ERROR(CheckFits(tokens));
  BlockTable table(pool_, model_.kv_layout_id());
  const Clock::time_point start = Clock::now();
  FORERUN_RETURN_IF_ERROR(Fill(table, tokens));
  return SecondsSince(start);
}

}  // namespace forerun
