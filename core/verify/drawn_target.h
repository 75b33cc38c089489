// What `exact_match` and `tree_target_only` share: at each node the target draws its token; if a child equals
// it the walk goes on there, else the token is emitted. What is emitted never depends on what was drafted.
#pragma once

#include <functional>

#include "core/verify/verifier.h"

namespace forerun {

// `draw`: the target's token after `node`, from its row p there.
Verdict FollowDrawnTarget(const TokenTree& tree, const TargetRows& target,
                          const std::function<TokenId(int node, const Distribution& p)>& draw);

}  // namespace forerun
