// The rules that verifier.cc lists, and what they share.
#pragma once

#include "core/verify/verifier.h"

namespace forerun {

const Verifier& GreedyRule();
const Verifier& ExactMatchRule();
const Verifier& RejectionRule();

// The draft's probability of a child's token; 1 where the child was not drawn.
double DraftProbability(const TokenTree& tree, int child);

}  // namespace forerun
