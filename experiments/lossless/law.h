// Rounds of speculation between two tables, with the engine left out: draft, verify, commit, again. The real
// rules are run through every outcome of every draw, which gives the exact law of the first emitted tokens.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/model/context_table.h"
#include "core/verify/enumeration.h"
#include "core/verify/verifier.h"

namespace forerun {

using TokenLaw = std::map<std::vector<TokenId>, double>;

inline Distribution DistributionAt(const ContextTable& table, std::span<const TokenId> context) {
  return Distribution::FromWeights(table.Row(context));
}

// Rows of a target that is a table; `committed` ends with the root's token.
class TableRows final : public TargetRows {
 public:
  // `unwarped`: a table for UnwarpedAt(); null: the target's own.
  TableRows(const ContextTable& target, std::span<const TokenId> committed, const TokenTree& tree,
            const ContextTable* unwarped = nullptr)
      : target_(target),
        unwarped_(unwarped == nullptr ? target : *unwarped),
        committed_(committed),
        tree_(tree) {}
  Distribution At(int node) const override { return DistributionAt(target_, Context(node)); }
  Distribution UnwarpedAt(int node) const override { return DistributionAt(unwarped_, Context(node)); }
  int64_t PositionAfter(int node) const override;

 private:
  std::vector<TokenId> Context(int node) const;

  const ContextTable& target_;
  const ContextTable& unwarped_;
  std::span<const TokenId> committed_;
  const TokenTree& tree_;
};

// The draws of a draft: each fresh, or coupled, with one uniform a position in all rounds.
class DraftDraws {
 public:
  DraftDraws(Randoms& randoms, std::optional<std::size_t> coupled_from)
      : randoms_(randoms), coupled_from_(coupled_from) {}
  // A token from q for the next node of `tree`, below `parent`.
  TokenId Draw(const TokenTree& tree, int parent, const Distribution& q);

 private:
  Randoms& randoms_;
  std::optional<std::size_t> coupled_from_;  // the root's children's position
};

// Adds at most `budget` levels below the root of `tree`.
using DraftFunction =
    std::function<void(std::span<const TokenId> committed, int budget, DraftDraws& draws, TokenTree& tree)>;

struct Speculation {
  const ContextTable* target = nullptr;
  const ContextTable* unwarped = nullptr;  // null: the target
  DraftFunction draft = {};
  const Verifier* rule = nullptr;
  int num_speculative_tokens = 1;  // levels of the draft
  std::vector<TokenId> prompt = {0};
  std::optional<TokenId> end_token = {};  // ends a text wherever it is emitted
  bool coupled = false;                   // see DraftKind
  bool keys_without_place =
      false;  // the mistake of keying coins by node alone: a round sees those of the last one
  // Called for each run of the first round, with its probability.
  std::function<void(const TokenTree&, const Verdict&, double)> first_round = {};
};

// The law of the first `length` emitted tokens; fewer where the end token came.
TokenLaw EmittedLaw(const Speculation& speculation, int length);
// The law of plain sampling.
TokenLaw PlainLaw(const Speculation& speculation, int length);
double TotalVariation(const TokenLaw& a, const TokenLaw& b);

// The distance between what speculation emits and what plain sampling emits.
double Bias(const Speculation& speculation, int length);
// The mean number of drafted tokens that stand in the first round.
double MeanAccepted(const Speculation& speculation);

}  // namespace forerun
