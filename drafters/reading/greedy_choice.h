// The draft model's best token, with or without a say on how sure it is.
#pragma once

#include <optional>

#include "core/engine/drafter.h"
#include "core/model/forward_batch.h"

namespace forerun {

// The least output that GreedyChoice() can decide on.
WantedOutput WantedForGreedy(const Sampling& sampling, double min_confidence);

// Of a row after the first `path` drafted tokens of the task, penalties included; nothing where the model
// gives its best token less than `min_confidence` at temperature 1 (before penalties; of the shortlist, where
// it has one).
std::optional<TokenId> GreedyChoice(const DraftTask& task, std::span<const TokenId> path,
                                    const RowOutput& output, double min_confidence);

// exp(best) / sum of exp, in double.
double BestProbability(std::span<const float> logits);

}  // namespace forerun
