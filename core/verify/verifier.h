// A rule decides which drafted tokens stand and which token comes after them.
// Rules are pure: no model, no cache, no clock; every random decision is
// asked of `Randoms`, so that a test can walk through all of them exactly.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/random.h"
#include "core/sampling/distribution.h"
#include "core/tree/token_tree.h"

namespace forerun {

// The target's distributions, made on demand: node n's is over
// the token after n's path, penalties along it included.
class TargetRows {
 public:
  virtual ~TargetRows() = default;
  virtual Distribution At(int node) const = 0;
  virtual TokenId BestAt(int node) const { return At(node).Argmax(); }
  // The same before temperature and truncation; for rules that say reads_unwarped().
  virtual Distribution UnwarpedAt(int node) const { return At(node); }
  // The position that a token after `node` would have in the sequence (prompt's first token: 0).
  virtual int64_t PositionAfter(int node) const = 0;
};

class Randoms {
 public:
  virtual ~Randoms() = default;
  virtual bool Coin(int node, double probability) = 0;  // true with this probability; node: the one examined
  virtual TokenId Draw(int node, Purpose purpose, const Distribution& p) = 0;
  virtual TokenId TargetDraw(int64_t position,
                             const Distribution& p) = 0;  // the draw of plain sampling there
};

// Coins and residual draws keyed by (seed, request, committed
// length, node, purpose); target draws by position.
class KeyedRandoms final : public Randoms {
 public:
  KeyedRandoms(uint64_t seed, uint64_t request, uint64_t committed)
      : seed_(seed), request_(request), committed_(committed) {}
  bool Coin(int node, double probability) override;  // Uniform < probability: never at 0, always at 1
  TokenId Draw(int node, Purpose purpose, const Distribution& p) override;
  TokenId TargetDraw(int64_t position, const Distribution& p) override;  // DrawRace

 private:
  uint64_t seed_, request_, committed_;
};
RandomKey TargetDrawKey(uint64_t seed, uint64_t request, int64_t position);

struct Examined {
  int node = 0;
  double p = 0;  // the target's probability of the node's token (1 or 0 under `greedy`)
  double q = 0;  // the draft's, before any sibling was taken; 1 where deterministic
  bool accepted = false;
};

struct Verdict {
  std::vector<int> accepted;  // nodes below the root, root-down
  TokenId next = 0;  // one target token after them: a correction, or a bonus where no child was left to try
  bool bonus = false;
  std::vector<Examined> examined;  // along the accepted path: the children tried at each of its nodes
};

enum class Law { kGreedyIdentical, kExact, kLossy, kSynthetic };
const char* LawName(Law law);  // "greedy_identical", "exact_law", "lossy", "synthetic"

// What a rule must know of the drafts before a run.
struct DraftKind {
  Proposal proposal = Proposal::kDeterministic;
  bool chain = true;
  // Drawn with noise that depends on the position alone: a later round draws a position that it judged before
  // with the same noise again.
  bool coupled = false;
};
std::string Describe(const DraftKind& kind);  // "coupled sampled chain"

class Verifier {
 public:
  virtual ~Verifier() = default;
  virtual absl::string_view name() const = 0;
  // What the rule aims at: kExact, kLossy or kSynthetic.
  virtual Law aim() const { return Law::kExact; }
  // Whether the output keeps the target's law under this pairing, and the words for all such pairings: "rule
  // keeps the target's law for ...". Never where the rule does not aim at it.
  virtual bool KeepsLaw(const DraftKind& kind, const Sampling& sampling) const = 0;
  virtual absl::string_view kept_for() const = 0;
  virtual bool reads_unwarped() const { return false; }
  virtual Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const = 0;
};

// What the output keeps under a pairing that CheckPairing() lets pass.
Law LawOf(const Verifier& rule, const Sampling& sampling);

}  // namespace forerun
