// Which tokens a model proposes after a node of a tree: its best ones, or draws from what it says.
#pragma once

#include <span>
#include <vector>

#include "core/engine/drafter.h"
#include "core/model/forward_batch.h"
#include "core/sampling/distribution.h"

namespace forerun {

enum class ChildSampling {
  kGreedy,                     // the best tokens: point masses
  kSampled,                    // independent draws from q; equal ones are siblings
  kSampledWithoutReplacement,  // successive draws from q, each without the ones before
  // The first tokens to arrive in the race that the target's own draw at that position will run: where p and
  // q are alike the target's token is mostly among them. Proposed as point masses: the noise is shared by all
  // nodes of a level and comes again in later rounds, and a rule that is lossless for any fixed tree is so
  // for one that does not depend on its coins.
  kCoupled,
};

// At temperature 0 all are greedy.
bool Draws(ChildSampling sampling, const Sampling& of_request);
Proposal ProposalOf(ChildSampling sampling, const Sampling& of_request);

struct ScoredChild {
  TokenId token = 0;
  double log_prob = 0;  // at temperature 1, penalties included; <= 0
};

// The least output that BestChildren() can choose `count` children from.
WantedOutput WantedForBest(const Sampling& sampling, int count, bool scored);
// The `count` best tokens after the drafted `path`, best first (ties: lower ids first); fewer where there are
// no more. log_prob means something where the output was asked for a score.
std::vector<ScoredChild> BestChildren(const DraftTask& task, std::span<const TokenId> path,
                                      const RowOutput& output, int count);

// The model's warped distribution after `node`, of a row that wanted kFull.
Distribution DraftDistribution(const DraftTask& task, int node, const RowOutput& output);
// The `count` least Exponential(key, token) / q, in order: successive draws without replacement
// (Efraimidis and Spirakis 2006); fewer where q has no more tokens. The first is q.DrawRace(key).
std::vector<TokenId> RaceOrder(const Distribution& q, const RandomKey& key, int count);

// Adds `count` drawn children to `node`; fewer where q has no more tokens. `sampling` is not greedy.
void AddDrawnChildren(DraftTask& task, int node, ChildSampling sampling, Distribution q, int count);
// Of the draws without replacement after `node`.
RandomKey ChildRaceKey(const DraftTask& task, int node);

}  // namespace forerun
