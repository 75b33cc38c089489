// Rounds of speculation between two tables, with the engine left out: draft, verify, commit, again. Gives the
// exact law of the first emitted tokens.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "core/model/context_table.h"
#include "core/verify/verifier.h"
#include "tests/support/enumeration.h"

namespace forerun {

using TokenLaw = std::map<std::vector<TokenId>, double>;

inline Distribution DistributionAt(const ContextTable& table, std::span<const TokenId> context) {
  return Distribution::FromWeights(table.Row(context));
}

// Rows of a target that is a table; `committed` ends with the root's token.
class TableRows final : public TargetRows {
 public:
  TableRows(const ContextTable& target, std::span<const TokenId> committed, const TokenTree& tree)
      : target_(target), committed_(committed), tree_(tree) {}
  Distribution At(int node) const override { return DistributionAt(target_, Context(node)); }
  int64_t PositionAfter(int node) const override;
  std::vector<TokenId> Context(int node) const;

 private:
  const ContextTable& target_;
  std::span<const TokenId> committed_;
  const TokenTree& tree_;
};

// Adds at most `budget` levels below the root of `tree`.
using DraftFunction =
    std::function<void(std::span<const TokenId> committed, int budget, Branching&, TokenTree& tree)>;

// Drafts from a table q.
DraftFunction SampledChain(const ContextTable& q);
DraftFunction BestChain(const ContextTable& q);  // deterministic: the most likely token
DraftFunction BestTree(const ContextTable& q,
                       int width);  // deterministic: the `width` most likely of each node
DraftFunction SampledTree(const ContextTable& q, int width);
DraftFunction SampledTreeWithoutReplacement(const ContextTable& q, int width);

struct Speculation {
  const ContextTable* target = nullptr;
  DraftFunction draft;
  const Verifier* rule = nullptr;
  int num_speculative_tokens = 1;  // levels of the draft
  std::vector<TokenId> prompt = {0};
  bool keys_without_place =
      false;  // the mistake of keying coins by node alone: a round sees those of the last one
  // Called for each run of the first round, with its probability.
  std::function<void(const TokenTree&, const Verdict&, double)> first_round = {};
};

// The law of the first `length` emitted tokens.
TokenLaw EmittedLaw(const Speculation& speculation, int length);
// The law of plain sampling.
TokenLaw PlainLaw(const ContextTable& target, std::vector<TokenId> prompt, int length);
double TotalVariation(const TokenLaw& a, const TokenLaw& b);

}  // namespace forerun
