// The last step of a forward: logits of the wanted rows, reduced to what each row asked for.
//
// The vocabulary is cut into slices of 8,192 words, and a row's argmax and log-sum-exp are merged over slices
// in order. The cut is fixed, so the result does not depend on how many rows or slices are held at once; that
// number is chosen so that the logits in flight stay below 32 MB, whatever the number of rows, while the head
// is streamed once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/model/transformer.h"

namespace forerun {
namespace {

constexpr int64_t kSlice = 8192;
constexpr std::size_t kLogitBytes = std::size_t{32} << 20;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

// log(exp(a) + exp(b)).
double MergeLogSumExp(double a, double b) {
  const double high = std::max(a, b);
  if (high == -std::numeric_limits<double>::infinity()) return high;
  return high + std::log(std::exp(a - high) + std::exp(b - high));
}

// Looks at exponents alone, which the compiler turns into vector code.
bool AllFinite(const float* values, int64_t count) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t bad = 0;
  for (int64_t i = 0; i < count; ++i) bad |= (std::bit_cast<uint32_t>(values[i]) & kExponent) == kExponent;
  return bad == 0;
}

}  // namespace

absl::Status Transformer::Head(const ForwardBatch& batch, const ForwardPlan& plan, ForwardResult& result) {
  const int64_t wanted = static_cast<int64_t>(plan.wanted_rows.size());
  for (int64_t i = 0; i < wanted; ++i) {  // gathered upward in place: wanted_rows ascends
    const float* row = act_.stream.data() + static_cast<std::size_t>(plan.wanted_rows[i]) * config_.width;
    std::copy(row, row + config_.width, act_.stream.data() + i * config_.width);
  }
  Normalize(act_.stream, weights_.output_norm, wanted, config_.width, act_.normed);
  Quantize(act_.normed, wanted, config_.width, {&weights_.head});

  const int64_t all_slices = (config_.vocab_size + kSlice - 1) / kSlice;
  const int64_t fitting = static_cast<int64_t>(kLogitBytes / (sizeof(float) * kSlice * wanted));
  const int64_t slices = std::clamp<int64_t>(fitting, 1, all_slices);
  if (act_.logits.size() < static_cast<std::size_t>(wanted * slices * kSlice))
    act_.logits.resize(wanted * slices * kSlice);

  std::vector<double> log_sum_exp(wanted, -std::numeric_limits<double>::infinity());
  for (int64_t slice = 0; slice < all_slices; slice += slices) {
    const int64_t first_output = slice * kSlice;
    const int64_t outputs = std::min(slices * kSlice, config_.vocab_size - first_output);
    LinearWeights part;
    part.matrix = weights_.head.matrix;
    part.matrix.outputs = outputs;
    part.matrix.data +=
        first_output / kPackedOutputs * PackedGroupBytes(part.matrix.type, part.matrix.columns);
    Multiply(part, act_.normed, wanted, act_.logits.data(), slices * kSlice);
    FORERUN_RETURN_IF_ERROR(CheckFinite(batch, plan, first_output, outputs, slices * kSlice));
    ReduceLogits(batch, plan, first_output, outputs, slices, log_sum_exp, result);
  }
  for (int64_t i = 0; i < wanted; ++i) {
    RowOutput& out = result.rows[plan.wanted_rows[i]];
    if (batch.rows[plan.wanted_rows[i]].wanted == WantedOutput::kLogProbOf) out.log_prob -= log_sum_exp[i];
  }
  return absl::OkStatus();
}

// Weights that a file has garbled without breaking its form show here.
absl::Status Transformer::CheckFinite(const ForwardBatch& batch, const ForwardPlan& plan,
                                      int64_t first_output, int64_t outputs, int64_t stride) const {
  for (std::size_t i = 0; i < plan.wanted_rows.size(); ++i) {
    const float* logits = act_.logits.data() + i * stride;
    if (AllFinite(logits, outputs)) continue;
    const int64_t at =
        std::find_if(logits, logits + outputs, [](float x) { return !std::isfinite(x); }) - logits;
    return absl::DataLossError(absl::StrCat(
        file_.path(), ": the logit of token ", first_output + at, " after token ",
        batch.rows[plan.wanted_rows[i]].token, " at position ", plan.positions[plan.wanted_rows[i]],
        ": expected a finite number, found ", logits[at], "; the weights are damaged"));
  }
  return absl::OkStatus();
}

void Transformer::ReduceLogits(const ForwardBatch& batch, const ForwardPlan& plan, int64_t first_output,
                               int64_t outputs, int64_t slices, std::vector<double>& log_sum_exp,
                               ForwardResult& result) {
  const int64_t wanted = static_cast<int64_t>(plan.wanted_rows.size());
  const int64_t stride = slices * kSlice;
  for (int64_t i = 0; i < wanted; ++i) {
    std::fill(act_.logits.data() + i * stride + outputs, act_.logits.data() + (i + 1) * stride, kNothing);
  }
  const auto asked = [&](WantedOutput what) {
    return std::any_of(plan.wanted_rows.begin(), plan.wanted_rows.end(),
                       [&](int32_t row) { return batch.rows[row].wanted == what; });
  };
  const bool want_best = asked(WantedOutput::kArgmax);
  const bool want_sum = asked(WantedOutput::kLogProbOf);
  std::vector<int32_t> best(wanted * slices);
  std::vector<double> sums(wanted * slices);
  if (want_best || want_sum) {
    const RowReduceArgs args{act_.logits.data(), kSlice, kSlice, want_best ? best.data() : nullptr,
                             want_sum ? sums.data() : nullptr};
    threads_.Run(kernels_.row_reduce, args, wanted * slices, 1);
  }
  for (int64_t i = 0; i < wanted; ++i) {
    const float* logits = act_.logits.data() + i * stride;
    const ForwardRow& row = batch.rows[plan.wanted_rows[i]];
    RowOutput& out = result.rows[plan.wanted_rows[i]];
    switch (row.wanted) {
      case WantedOutput::kArgmax:
        for (int64_t slice = 0; slice * kSlice < outputs; ++slice) {
          const int64_t index = slice * kSlice + best[i * slices + slice];
          if (out.argmax < 0 || logits[index] > out.best_logit) {
            out.argmax = static_cast<TokenId>(first_output + index);
            out.best_logit = logits[index];
          }
        }
        break;
      case WantedOutput::kLogProbOf:
        for (int64_t slice = 0; slice * kSlice < outputs; ++slice) {
          log_sum_exp[i] = MergeLogSumExp(log_sum_exp[i], sums[i * slices + slice]);
        }
        if (row.target >= first_output && row.target < first_output + outputs) {
          out.log_prob = logits[row.target - first_output];
        }
        break;
      case WantedOutput::kFull:
        out.logits.reserve(config_.vocab_size);
        out.logits.insert(out.logits.end(), logits, logits + outputs);
        break;
      case WantedOutput::kNone:
        break;
    }
  }
}

}  // namespace forerun
