#include "experiments/lossless/counts.h"

#include <algorithm>

#include "core/base/status_macros.h"
#include "core/engine/engine.h"
#include "experiments/lossless/chi_square.h"

namespace forerun {

double SampledRow::p_value() const {
  const double least = p_values.empty() ? 1 : *std::min_element(p_values.begin(), p_values.end());
  return std::min(1.0, least * static_cast<double>(p_values.size()));
}

absl::StatusOr<std::vector<RequestResult>> WriteTexts(Model& target, KvPool& pool, const Request& request,
                                                      int texts) {
  Engine engine(target, pool, {.max_sequences = 64, .max_batch_rows = 512});
  for (int text = 0; text < texts; ++text) {
    Request copy = request;
    copy.id = text;
    FORERUN_RETURN_IF_ERROR(engine.Add(std::move(copy)));
  }
  FORERUN_ASSIGN_OR_RETURN(std::vector<RequestResult> results, RunToCompletion(engine));
  for (const RequestResult& result : results) FORERUN_RETURN_IF_ERROR(result.status);
  return results;
}

double AcceptanceRate(std::span<const RequestResult> results) {
  int64_t drafted = 0, accepted = 0;
  for (const RequestResult& result : results) {
    drafted += result.drafted;
    accepted += result.accepted;
  }
  return drafted == 0 ? 0 : static_cast<double>(accepted) / static_cast<double>(drafted);
}

void CountTokens(std::span<const RequestResult> results, std::span<const PlaceLaw> laws, SampledRow& row) {
  row.acceptance_rate = AcceptanceRate(results);
  for (const PlaceLaw& expected : laws) {
    std::vector<int64_t> counts(expected.law.size(), 0);
    for (const RequestResult& result : results) ++counts[result.output[expected.place]];
    row.p_values.push_back(ChiSquarePValue(counts, expected.law));
  }
}

void JudgeTogether(std::span<SampledReport* const> reports) {
  std::vector<double> p_values;
  std::vector<SampledRow*> owners;
  for (SampledReport* report : reports) {
    report->tests = 0;
    for (SampledRow& row : report->rows) {
      row.rejected = row.control && row.p_value() <= kFamilyAlarm;
      if (row.control) continue;
      report->tests += static_cast<int>(row.p_values.size());
      p_values.insert(p_values.end(), row.p_values.begin(), row.p_values.end());
      owners.insert(owners.end(), row.p_values.size(), &row);
    }
  }
  const std::vector<bool> rejected = HolmRejections(p_values, kFamilyAlarm);
  for (std::size_t i = 0; i < rejected.size(); ++i)
    if (rejected[i]) owners[i]->rejected = true;
  const double alarm = kFamilyAlarm / static_cast<double>(std::max<std::size_t>(1, p_values.size()));
  for (SampledReport* report : reports) {
    double& shift = report->detectable_shift = 0;
    while (shift < 1 && ChiSquarePower(report->cells, report->texts, shift, alarm) < 0.99) shift += 0.001;
  }
}

}  // namespace forerun
