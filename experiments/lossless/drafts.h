// Drafts from a table, in every shape and with every kind of proposal, for the exact laboratory.
#pragma once

#include <vector>

#include "experiments/lossless/law.h"

namespace forerun {

// parents[i]: the parent of node i + 1; a node's children are consecutive or not, in order of proposal.
using TreeShape = std::vector<int>;
TreeShape ChainShape(int length);
TreeShape WideShape(int width, int depth);  // `width` children at each node of `depth` levels

// The children of the shape's node n are proposed as proposals[n % size] says: the likeliest tokens of q's
// row there, or draws from it. Where q runs out of tokens, children and what is below them are left out.
DraftFunction Shaped(const ContextTable& q, TreeShape shape, std::vector<Proposal> proposals);

// Chains and trees as deep as the budget.
DraftFunction SampledChain(const ContextTable& q);
DraftFunction BestChain(const ContextTable& q);
DraftFunction BestTree(const ContextTable& q, int width);
DraftFunction SampledTree(const ContextTable& q, int width);
DraftFunction SampledTreeWithoutReplacement(const ContextTable& q, int width);

}  // namespace forerun
