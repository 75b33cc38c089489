// What happened in one round (one target verification) of one sequence: the row behind every table.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/verify/verifier.h"

namespace forerun {

struct RoundRecord {
  uint64_t request = 0;
  int round = 0;      // 0, 1, ... within the request
  int committed = 0;  // tokens (prompt and output) before the round; the last is the tree's root
  int budget = 0;     // most nodes the drafter was allowed
  int drafted = 0;    // nodes proposed, root not counted
  int max_depth = 0;  // depth of the deepest proposed node
  int accepted = 0;   // drafted tokens that were emitted
  int truncated = 0;  // tokens of the verdict cut off by an end token, stop string or length
  // max_new_tokens or the context's end cut the budget below K, or kept a tree from growing deeper.
  bool length_limited = false;
  bool bonus = false;  // the last emitted token is a bonus, not a correction (false where truncated)
  std::vector<TokenId> emitted;    // accepted tokens, then the correction or bonus
  std::vector<Examined> examined;  // every examined node with p, q and the outcome
  // Wall seconds of the engine step, this sequence's share by rows where several sequences were in it.
  double draft_seconds = 0;
  double verify_seconds = 0;  // the target's forward
  double sample_seconds = 0;  // distributions and the rule
  double other_seconds = 0;   // placing, committing, book-keeping
  int batch_sequences = 1;
  int batch_rows = 0;  // rows of the whole forward

  double seconds() const { return draft_seconds + verify_seconds + sample_seconds + other_seconds; }
};

}  // namespace forerun
