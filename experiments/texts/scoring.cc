#include "experiments/texts/scoring.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kv/block_table.h"
#include "core/model/read_tokens.h"

namespace forerun {
namespace {

absl::Status CheckIds(const Model& model, std::span<const TokenId> ids) {
  if (ids.empty() || ids.size() > static_cast<std::size_t>(model.context_length())) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected 1 to ", model.context_length(), " ids (the context), found ", ids.size()));
  }
  for (const TokenId id : ids) {
    if (id >= 0 && id < model.vocab_size()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("expected ids below ", model.vocab_size(), ", found ", id));
  }
  return absl::OkStatus();
}

std::vector<std::pair<TokenId, float>> BestLogits(const std::vector<float>& logits, int count) {
  std::vector<TokenId> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto last = order.begin() + std::min<std::size_t>(count, order.size());
  std::partial_sort(order.begin(), last, order.end(), [&](TokenId a, TokenId b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  });
  std::vector<std::pair<TokenId, float>> best;
  for (auto token = order.begin(); token != last; ++token) best.emplace_back(*token, logits[*token]);
  return best;
}

// Rows [first, first + count) of the sequence.
ForwardBatch MakeBatch(BlockTable& table, std::span<const TokenId> ids, std::size_t first, int count,
                       bool want_last) {
  ForwardBatch batch;
  batch.segments.push_back({.table = &table, .num_rows = count});
  for (int i = 0; i < count; ++i) {
    ForwardRow row = {.token = ids[first + i], .parent = i - 1};
    const bool last = first + i + 1 == ids.size();
    if (!last) {
      row.wanted = WantedOutput::kLogProbOf;
      row.target = ids[first + i + 1];
    } else if (want_last) {
      row.wanted = WantedOutput::kFull;
    }
    batch.rows.push_back(row);
  }
  return batch;
}

}  // namespace

std::optional<double> Score::mean_nll() const {
  if (nll.empty()) return std::nullopt;
  return std::accumulate(nll.begin(), nll.end(), 0.0) / static_cast<double>(nll.size());
}

absl::StatusOr<Score> ScoreTokens(Model& model, KvPool& pool, std::span<const TokenId> ids,
                                  const ScoreOptions& options) {
  FORERUN_RETURN_IF_ERROR(CheckIds(model, ids));
  const auto start = std::chrono::steady_clock::now();
  Score score;
  BlockTable table(pool, model.kv_layout_id());
  const std::size_t needed =
      options.top > 0 ? ids.size() : ids.size() - 1;  // the last id predicts nothing scored
  for (std::size_t first = 0; first < needed; first += options.chunk) {
    const int count = static_cast<int>(std::min<std::size_t>(options.chunk, needed - first));
    FORERUN_RETURN_IF_ERROR(table.Reserve(count));
    const ForwardBatch batch = MakeBatch(table, ids, first, count, options.top > 0);
    FORERUN_ASSIGN_OR_RETURN(const ForwardResult result, model.Forward(batch));
    table.CommitAll();
    for (int i = 0; i < count; ++i) {
      if (batch.rows[i].wanted == WantedOutput::kLogProbOf) score.nll.push_back(-result.rows[i].log_prob);
      if (batch.rows[i].wanted == WantedOutput::kFull)
        score.top = BestLogits(result.rows[i].logits, options.top);
    }
  }
  score.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return score;
}

absl::StatusOr<std::vector<BestToken>> BestTokensAlong(Model& model, KvPool& pool,
                                                       std::span<const TokenId> ids, int chunk) {
  FORERUN_RETURN_IF_ERROR(CheckIds(model, ids));
  std::vector<BestToken> best;
  BlockTable table(pool, model.kv_layout_id());
  for (std::span<const TokenId> rest = ids.first(ids.size() - 1); !rest.empty();) {
    const std::span<const TokenId> tokens = rest.first(std::min<std::size_t>(chunk, rest.size()));
    FORERUN_ASSIGN_OR_RETURN(const ForwardResult result,
                             ReadTokens(model, table, tokens, {.wanted = WantedOutput::kTopK, .top_k = 2}));
    for (const RowOutput& row : result.rows) {
      const float margin = row.top.size() > 1 ? row.top[0].logit - row.top[1].logit : 0;
      best.push_back({row.argmax, margin});
    }
    rest = rest.subspan(tokens.size());
  }
  return best;
}

}  // namespace forerun
