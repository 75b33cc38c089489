// The promise of the numerics contract, as a check: a row's logits are the same bits whatever stands beside
// it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/kv/kv_pool.h"
#include "core/model/model.h"

namespace forerun {

// Logits after each token, every token computed alone: what all other ways must reproduce. [tokens][vocab]
std::vector<std::vector<float>> LogitsOneByOne(Model& model, KvPool& pool, std::span<const TokenId> tokens);

// Each returns what differed first, or an empty string.
std::string CompareChunks(Model& model, KvPool& pool, std::span<const TokenId> tokens,
                          const std::vector<std::vector<float>>& alone, int chunk);
// n rows at once after `context` tokens, as a chain, for every n up to most_rows.
std::string CompareWidths(Model& model, KvPool& pool, std::span<const TokenId> tokens,
                          const std::vector<std::vector<float>>& alone, int context, int most_rows);
// A random tree after `context` tokens, its rows in random (topological) order so that siblings and paths
// fall into any slots; each node against its path computed alone; the same with a few rows a forward; then a
// random path is committed and decoding goes on.
std::string CompareRandomTree(Model& model, KvPool& pool, std::span<const TokenId> tokens,
                              const std::vector<std::vector<float>>& alone, int context, int nodes,
                              uint64_t seed);
// One forward with a prefill chunk, a single row, a chain and a tree of four sequences.
std::string CompareMixedBatch(Model& model, KvPool& pool, std::span<const TokenId> tokens,
                              const std::vector<std::vector<float>>& alone);
// Drafts that are rejected must leave no trace: wrong rows are computed after each token and rolled back.
// `rollback` is how; the right way is table.CommitFirst(kept).
std::string CompareAfterRejections(Model& model, KvPool& pool, std::span<const TokenId> tokens,
                                   const std::vector<std::vector<float>>& alone, int rejected,
                                   void (*rollback)(BlockTable& table, int kept));

}  // namespace forerun
