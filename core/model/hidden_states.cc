// The hidden states that a forward keeps, and the head on states that come from elsewhere.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/model/transformer.h"

namespace forerun {

absl::Status Transformer::CheckTaps(const ForwardBatch& batch) const {
  for (const int tap : batch.taps) {
    if (tap >= 0 && tap <= config_.layers + 1) continue;
    return absl::InvalidArgumentError(absl::StrCat("forward batch: taps: expected numbers from 0 to ",
                                                   config_.layers + 1, ", found ", tap));
  }
  return absl::OkStatus();
}

// Called where the stream is what tap `tap` means; for the last one, where it is about to be normed.
void Transformer::KeepTap(const ForwardBatch& batch, int tap, ForwardResult& result) {
  for (std::size_t i = 0; i < batch.taps.size(); ++i) {
    if (batch.taps[i] != tap) continue;
    std::vector<float>& kept = result.taps[i];
    int64_t rows = 0;
    for (int row = 0; row < rows_; ++row) {
      if (!batch.rows[row].tapped) continue;
      const float* x = act_.stream.data() + static_cast<std::size_t>(row) * config_.width;
      kept.insert(kept.end(), x, x + config_.width);
      ++rows;
    }
    if (tap > config_.layers && rows > 0) {
      Normalize(kept.data(), weights_.output_norm, rows, config_.width);
    }
  }
}

absl::StatusOr<std::vector<RowOutput>> Transformer::HeadOutputs(std::span<const float> hidden,
                                                                std::span<const ForwardRow> rows) {
  FORERUN_CHECK(hidden.size() == rows.size() * config_.width);
  ForwardBatch batch;
  batch.rows.assign(rows.begin(), rows.end());
  ForwardPlan plan;
  plan.positions.resize(rows.size());
  ForwardResult result;
  result.rows.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].wanted != WantedOutput::kNone) plan.wanted_rows.push_back(static_cast<int32_t>(i));
  }
  const int64_t wanted = static_cast<int64_t>(plan.wanted_rows.size());
  if (wanted == 0) return std::move(result.rows);
  Prepare({&weights_.head}, wanted, config_.width, act_.normed);
  for (int64_t i = 0; i < wanted; ++i) {
    std::copy_n(hidden.data() + int64_t{plan.wanted_rows[i]} * config_.width, config_.width,
                act_.normed.x.data() + i * config_.width);
  }
  Quantize(act_.normed);
  FORERUN_RETURN_IF_ERROR(Logits(batch, plan, result));
  return std::move(result.rows);
}

}  // namespace forerun
