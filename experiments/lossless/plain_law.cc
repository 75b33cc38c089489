#include "experiments/lossless/plain_law.h"

#include <map>

#include "core/base/status_macros.h"
#include "core/kv/block_table.h"
#include "core/sampling/distribution.h"

namespace forerun {
namespace {

// After the context, read from its start in a forward of its own.
absl::StatusOr<Distribution> DistributionAfter(Model& model, KvPool& pool, std::span<const TokenId> context,
                                               const Sampling& sampling) {
  BlockTable table(pool, model.kv_layout_id());
  FORERUN_RETURN_IF_ERROR(table.Reserve(static_cast<int>(context.size())));
  ForwardBatch batch;
  batch.segments.push_back({.table = &table, .num_rows = static_cast<int32_t>(context.size())});
  for (const TokenId token : context) batch.rows.push_back({.token = token});
  batch.rows.back().wanted = WantedOutput::kFull;
  FORERUN_ASSIGN_OR_RETURN(const ForwardResult result, model.Forward(batch));
  return Distribution::FromLogits(result.rows.back().logits, sampling, {});
}

}  // namespace

absl::StatusOr<std::vector<std::vector<double>>> PlainTokenLaws(Model& model, KvPool& pool,
                                                                std::span<const TokenId> prompt,
                                                                const Sampling& sampling, int places) {
  std::vector<std::vector<double>> laws;
  std::map<std::vector<TokenId>, double> contexts = {{{prompt.begin(), prompt.end()}, 1.0}};
  while (static_cast<int>(laws.size()) < places) {
    std::vector<double> law(model.vocab_size(), 0.0);
    std::map<std::vector<TokenId>, double> longer;
    for (const auto& [context, mass] : contexts) {
      FORERUN_ASSIGN_OR_RETURN(const Distribution p, DistributionAfter(model, pool, context, sampling));
      for (const TokenId token : p.tokens()) {
        law[token] += mass * p[token];
        std::vector<TokenId> next = context;
        next.push_back(token);
        longer[std::move(next)] = mass * p[token];
      }
    }
    laws.push_back(std::move(law));
    contexts = std::move(longer);
  }
  return laws;
}

}  // namespace forerun
