// The last step of a forward: logits of the wanted rows, reduced to what each row asked for.
//
// The vocabulary is cut into slices of 8,192 words, and a row's log-sum-exp is merged over slices in order;
// its argmax comes from the pieces that the product is made in. The cut is fixed, so the result does not
// depend on how many rows or slices are held at once; that number is chosen so that the logits in flight stay
// below 32 MB, whatever the number of rows, while the head is streamed once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/model/scratch.h"
#include "core/model/top_tokens.h"
#include "core/model/transformer.h"
#include "kernels/fused/head_pieces.h"

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

bool WantsTop(WantedOutput wanted) {
  return wanted == WantedOutput::kTopK || wanted == WantedOutput::kTopKLogProb;
}
bool WantsBestLogProb(WantedOutput wanted) {
  return wanted == WantedOutput::kBestLogProb || wanted == WantedOutput::kTopKLogProb;
}
bool WantsBest(WantedOutput wanted) {
  return wanted == WantedOutput::kArgmax || WantsBestLogProb(wanted) || WantsTop(wanted);
}
bool WantsSum(WantedOutput wanted) { return wanted == WantedOutput::kLogProbOf || WantsBestLogProb(wanted); }

// The token of the head's output `index`.
TokenId TokenOf(const Shortlist* shortlist, int64_t index) {
  return shortlist == nullptr ? static_cast<TokenId>(index) : shortlist->ids[index];
}

}  // namespace

std::shared_ptr<const Shortlist> Transformer::MakeShortlist(std::vector<TokenId> ids) {
  auto shortlist = std::make_shared<Shortlist>();
  shortlist->ids = std::move(ids);
  shortlist->vocab_size = config_.vocab_size;
  PackShortlist(weights_.head.matrix, threads_, *shortlist);
  return shortlist;
}

absl::Status Transformer::Head(const ForwardBatch& batch, const ForwardPlan& plan, ForwardResult& result) {
  const int64_t wanted = static_cast<int64_t>(plan.wanted_rows.size());
  for (int64_t i = 0; i < wanted; ++i) {  // gathered upward in place: wanted_rows ascends
    const float* row = act_.stream.data() + static_cast<std::size_t>(plan.wanted_rows[i]) * config_.width;
    std::copy(row, row + config_.width, act_.stream.data() + i * config_.width);
  }
  NormalizeFor({&weights_.head}, act_.stream, weights_.output_norm, wanted, true, act_.normed);
  return Logits(batch, plan, result);
}

absl::Status Transformer::Logits(const ForwardBatch& batch, const ForwardPlan& plan, ForwardResult& result) {
  const int64_t wanted = static_cast<int64_t>(plan.wanted_rows.size());
  const PackedMatrix& head = batch.shortlist == nullptr ? weights_.head.matrix : batch.shortlist->rows;
  const int64_t all_slices = (head.outputs + kSlice - 1) / kSlice;
  const int64_t fitting = static_cast<int64_t>(kLogitBytes / (sizeof(float) * kSlice * wanted));
  const int64_t slices = std::clamp<int64_t>(fitting, 1, all_slices);
  float* const logits = Grown(act_.logits, wanted * slices * kSlice);

  const bool want_best = std::any_of(plan.wanted_rows.begin(), plan.wanted_rows.end(),
                                     [&](int32_t row) { return WantsBest(batch.rows[row].wanted); });
  std::vector<double> log_sum_exp(wanted, -std::numeric_limits<double>::infinity());
  for (int64_t slice = 0; slice < all_slices; slice += slices) {
    const int64_t first_output = slice * kSlice;
    const int64_t outputs = std::min(slices * kSlice, head.outputs - first_output);
    LinearWeights part;
    part.matrix = head;
    part.matrix.outputs = outputs;
    part.matrix.data +=
        first_output / kPackedOutputs * PackedGroupBytes(part.matrix.type, part.matrix.columns);
    const int64_t pieces = HeadPieceCount(outputs);
    std::vector<uint8_t> finite(pieces);
    std::vector<int32_t> best(want_best ? pieces * wanted : 0);
    const HeadPiecesArgs args{.kernels = &kernels_,
                              .matmul = MatmulFor(part),
                              .product = Product(part, act_.normed, wanted, logits, slices * kSlice),
                              .finite = finite.data(),
                              .best = want_best ? best.data() : nullptr};
    threads_.Run(&HeadPieces, args, pieces, 1);
    Count(part);
    if (std::count(finite.begin(), finite.end(), 0) > 0)
      return NotFinite(batch, plan, first_output, outputs, slices * kSlice);
    ReduceLogits(batch, plan, first_output, outputs, slices, best, log_sum_exp, result);
  }
  for (int64_t i = 0; i < wanted; ++i) {
    RowOutput& out = result.rows[plan.wanted_rows[i]];
    const WantedOutput what = batch.rows[plan.wanted_rows[i]].wanted;
    if (WantsBestLogProb(what)) out.log_prob = out.best_logit;
    if (WantsSum(what)) out.log_prob -= log_sum_exp[i];
  }
  return absl::OkStatus();
}

// Weights that a file has garbled without breaking its form show here.
absl::Status Transformer::NotFinite(const ForwardBatch& batch, const ForwardPlan& plan, int64_t first_output,
                                    int64_t outputs, int64_t stride) const {
  for (std::size_t i = 0; i < plan.wanted_rows.size(); ++i) {
    const float* logits = act_.logits.data() + i * stride;
    const int64_t at =
        std::find_if(logits, logits + outputs, [](float x) { return !std::isfinite(x); }) - logits;
    if (at == outputs) continue;
    return absl::DataLossError(absl::StrCat(
        file_.path(), ": the logit of token ", TokenOf(batch.shortlist, first_output + at), " after token ",
        batch.rows[plan.wanted_rows[i]].token, " at position ", plan.positions[plan.wanted_rows[i]],
        ": expected a finite number, found ", logits[at], "; the weights are damaged"));
  }
  return absl::InternalError("expected a logit that is not finite");
}

void Transformer::ReduceLogits(const ForwardBatch& batch, const ForwardPlan& plan, int64_t first_output,
                               int64_t outputs, int64_t slices, const std::vector<int32_t>& best,
                               std::vector<double>& log_sum_exp, ForwardResult& result) {
  const int64_t wanted = static_cast<int64_t>(plan.wanted_rows.size());
  const int64_t stride = slices * kSlice;
  const bool want_sum = std::any_of(plan.wanted_rows.begin(), plan.wanted_rows.end(),
                                    [&](int32_t row) { return WantsSum(batch.rows[row].wanted); });
  std::vector<double> sums(want_sum ? wanted * slices : 0);
  if (want_sum) {
    for (int64_t i = 0; i < wanted; ++i) {
      float* const logits = act_.logits.data() + i * stride;
      std::fill(logits + outputs, logits + stride, kNothing);
    }
    const RowReduceArgs args{act_.logits.data(), kSlice, kSlice, nullptr, sums.data()};
    threads_.Run(kernels_.row_reduce, args, wanted * slices, 1);
  }
  for (int64_t i = 0; i < wanted; ++i) {
    const float* logits = act_.logits.data() + i * stride;
    const ForwardRow& row = batch.rows[plan.wanted_rows[i]];
    RowOutput& out = result.rows[plan.wanted_rows[i]];
    if (WantsBest(row.wanted)) {
      for (int64_t piece = 0; piece * kHeadPiece < outputs; ++piece) {
        const int64_t index = piece * kHeadPiece + best[piece * wanted + i];
        if (WantsTop(row.wanted)) {
          OfferPiece(batch.shortlist, logits, first_output, outputs, piece, index, row.top_k, out.top);
        }
        if (out.argmax < 0 || logits[index] > out.best_logit) {
          out.argmax = TokenOf(batch.shortlist, first_output + index);
          out.best_logit = logits[index];
        }
      }
    }
    if (WantsSum(row.wanted)) {
      for (int64_t slice = 0; slice * kSlice < outputs; ++slice) {
        log_sum_exp[i] = MergeLogSumExp(log_sum_exp[i], sums[i * slices + slice]);
      }
    }
    if (row.wanted == WantedOutput::kLogProbOf) {
      FORERUN_CHECK(batch.shortlist == nullptr);
      if (row.target >= first_output && row.target < first_output + outputs) {
        out.log_prob = logits[row.target - first_output];
      }
    }
    if (row.wanted == WantedOutput::kFull) {
      CollectLogits(batch.shortlist, logits, first_output, outputs, out.logits);
    }
  }
}

// The best of a piece tells whether it has anything for the list.
void Transformer::OfferPiece(const Shortlist* shortlist, const float* logits, int64_t first_output,
                             int64_t outputs, int64_t piece, int64_t best, int top_k,
                             std::vector<ScoredToken>& list) const {
  TopTokens top(list, top_k);
  if (!top.Takes(logits[best])) return;
  const int64_t end = std::min((piece + 1) * kHeadPiece, outputs);
  for (int64_t i = piece * kHeadPiece; i < end; ++i) {
    if (top.Takes(logits[i])) top.Offer(TokenOf(shortlist, first_output + i), logits[i]);
  }
}

void Transformer::CollectLogits(const Shortlist* shortlist, const float* logits, int64_t first_output,
                                int64_t outputs, std::vector<float>& all) const {
  if (shortlist == nullptr) {
    all.reserve(config_.vocab_size);
    all.insert(all.end(), logits, logits + outputs);
    return;
  }
  all.resize(config_.vocab_size, kNothing);
  for (int64_t i = 0; i < outputs; ++i) all[shortlist->ids[first_output + i]] = logits[i];
}

}  // namespace forerun
