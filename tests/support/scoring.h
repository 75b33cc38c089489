// Running token lists through a model, for tests that compare whole forwards.
#pragma once

#include <span>
#include <vector>

#include "core/model/model.h"

namespace forerun {

// Adds `tokens` to the table in chunks of at most `chunk` rows; the outputs of all rows, each asked for
// `wanted` (kLogProbOf: of the next token in `tokens`; the last row then gives nothing).
std::vector<RowOutput> Feed(Model& model, BlockTable& table, std::span<const TokenId> tokens, int chunk,
                            WantedOutput wanted);

// Mean of -log p of tokens 1 .. n-1, each given what stands before it.
double MeanNll(Model& model, KvPool& pool, std::span<const TokenId> tokens, int chunk = 512);

// The rows of a tree: parents[i] < i, -1 after the committed context. Rows stay reserved, nothing is
// committed. The first `written` are in the cache from calls before and are not computed again.
std::vector<RowOutput> ForwardTree(Model& model, BlockTable& table, std::span<const TokenId> tokens,
                                   std::span<const int> parents, int written = 0);

// The same bits, not merely the same numbers.
bool SameBits(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace forerun
