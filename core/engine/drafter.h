// A drafter guesses what the target will say next. One method; nothing has to be called in step with the
// engine: a drafter's state is a cache of a prefix of the committed tokens, which it compares, rolls back and
// catches up.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"
#include "core/engine/features.h"
#include "core/kv/block_table.h"
#include "core/model/forward_batch.h"
#include "core/sampling/sampling.h"
#include "core/tree/token_tree.h"
#include "core/verify/verifier.h"

namespace forerun {

// What a drafter keeps for one sequence; owned by the sequence and released with it.
class DrafterState {
 public:
  virtual ~DrafterState() = default;
};

// What the target said at one row of the last verified tree: evidence for drafters that learn from it.
struct EvidenceRow {
  TokenId token = 0;
  int64_t position = 0;  // of the token in the sequence (prompt's first token: 0)
  int parent = -1;       // row index; -1 for the root, row 0
  bool committed = false;
  std::vector<ScoredToken> top;  // the target's best tokens after this row, by logit, best first
};

struct DraftTask {
  DrafterState* state = nullptr;
  std::span<const TokenId> committed;  // prompt, then output; the last one is the root of the next tree
  int prompt_length = 0;               // committed[0 .. prompt_length)
  const Sampling* sampling = nullptr;  // the request's
  uint64_t request = 0;                // key of its random numbers, with sampling->seed and committed.size()
  int budget = 0;                      // most nodes below the root; 0: only catch up if that is cheap
  int max_depth = 0;                   // of a node; deeper ones could not be emitted
  // What the output may look like, where the request says so; empty: unknown.
  std::span<const TokenId> prediction = {};
  // Every row of the sequence's last verified tree, in the tree's order, rejected ones included; empty before
  // the first, or where the drafter asked for none.
  std::span<const EvidenceRow> evidence = {};
  // The target's own pages of committed[0 .. size - 1): a drafter that runs the target forks them. Null while
  // the prompt is being prefilled.
  const BlockTable* target_table = nullptr;
  // The target's hidden states at every row that was committed since the drafter was last asked, prompt rows
  // included; null where the drafter asked for none, or there are none.
  const Features* features = nullptr;
  TokenTree* tree = nullptr;  // in: the root alone; out: the proposal
  absl::Status status;        // out: an error ends this request, the others go on
};

class Drafter {
 public:
  virtual ~Drafter() = default;
  virtual absl::string_view name() const = 0;
  // How children will be chosen under this sampling: what a rule is checked against before a run.
  virtual Proposal proposal(const Sampling& sampling) const = 0;
  virtual bool chains_only() const { return true; }
  // Whether children are drawn with the noise of the target's own draw at their position.
  virtual bool coupled(const Sampling&) const { return false; }
  // How many of the target's best tokens it wants of every verified row; 0: no evidence.
  virtual int evidence_top_k() const { return 0; }
  // Which hidden states of the target it reads (ForwardBatch::taps); none: it has no need of any. With some,
  // it is called before every target forward of its sequences.
  virtual std::vector<int> taps() const { return {}; }
  // What every table must say of it, such as "shortlist 32768 of 151936"; empty: nothing.
  virtual std::string note() const { return ""; }
  // Whether a request's drafts depend on the requests before it; a run's rows say so.
  virtual bool learns() const { return false; }
  virtual absl::StatusOr<std::unique_ptr<DrafterState>> Open() = 0;
  // Called before every target forward of these sequences that verifies. An error here ends the whole step.
  virtual absl::Status Propose(std::span<DraftTask> tasks) = 0;
};

// What a rule is checked against; null: plain decoding.
inline DraftKind KindOfDrafts(const Drafter* drafter, const Sampling& sampling) {
  if (drafter == nullptr) return {};
  return {drafter->proposal(sampling), drafter->chains_only(), drafter->coupled(sampling)};
}

}  // namespace forerun
