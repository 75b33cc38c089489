// Negative log-likelihoods of given tokens, straight through a model in chunks.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"

namespace forerun {

struct ScoreOptions {
  int chunk = 512;  // rows of one forward
  int top = 0;      // best logits after the last id to return
};

struct Score {
  std::vector<double> nll;  // [ids - 1] nats: of ids[1], ids[2], ...
  double seconds = 0;
  std::vector<std::pair<TokenId, float>> top;  // best first

  std::optional<double> mean_nll() const;  // nothing where there is one id alone
};

// InvalidArgument for no ids, ids outside the vocabulary or more than the context holds.
absl::StatusOr<Score> ScoreTokens(Model& model, KvPool& pool, std::span<const TokenId> ids,
                                  const ScoreOptions& options);

struct BestToken {
  TokenId id = 0;    // ties: the lowest id
  float margin = 0;  // its logit less the second best one's
};

// After each id but the last, what greedy decoding would have written. Errors as ScoreTokens.
absl::StatusOr<std::vector<BestToken>> BestTokensAlong(Model& model, KvPool& pool,
                                                       std::span<const TokenId> ids, int chunk);

}  // namespace forerun
