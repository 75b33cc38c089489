// What `typical` and `relaxed` share: at each node the target's row sets a bar, and a drafted token at or
// above it may stand. The longest path of such tokens stands (equal lengths: the likelier under the target,
// then the first); the next token is drawn from the target's row after it. The output is not the target's.
#pragma once

#include <functional>

#include "core/verify/verifier.h"

namespace forerun {

struct Bar {
  double least = 0;
  bool inclusive = true;
  bool Passes(double p) const { return p > 0 && (inclusive ? p >= least : p > least); }
};

// `judged`: the row that the bar is set from and tokens are held against.
Verdict LongestPathOverBar(const TokenTree& tree, const TargetRows& target, Randoms& randoms,
                           const std::function<Distribution(int node)>& judged,
                           const std::function<Bar(const Distribution& row)>& bar);

}  // namespace forerun
