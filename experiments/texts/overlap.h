// How well a draft model knows a target's text, whatever rule or tree there will be: the distributions of
// both along the target's own output. Sum min(p, q) is what `rejection` accepts at a position in the mean
// (Leviathan et al. 2023); agreement of the best tokens is what greedy drafts get at temperature 0.
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"

namespace forerun {

// Sums over the tokens of one output. p target, q draft, both unwarped (temperature 1).
struct TextOverlap {
  double overlap = 0;    // of sum min(p, q)
  double entropy = 0;    // of H(p), nats
  double agreement = 0;  // 1 where p and q have the same best token
  int64_t tokens = 0;
};

// At every token of `output` after `prompt`. InvalidArgument where a context is too short.
absl::StatusOr<TextOverlap> MeasureOverlap(Model& target, Model& draft, KvPool& pool,
                                           std::span<const TokenId> prompt, std::span<const TokenId> output);

}  // namespace forerun
