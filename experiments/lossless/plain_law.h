// The law of the tokens that a model writes by itself: every output that the sampling can give, each
// conditional distribution from a plain forward of its whole context.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"
#include "core/sampling/sampling.h"

namespace forerun {

// [places][vocab]: the law of the output's first tokens. The number of contexts grows with the support of
// each: top_k s costs 1 + s + s^2 + ... forwards. `sampling` has no penalties over the output.
absl::StatusOr<std::vector<std::vector<double>>> PlainTokenLaws(Model& model, KvPool& pool,
                                                                std::span<const TokenId> prompt,
                                                                const Sampling& sampling, int places);

}  // namespace forerun
