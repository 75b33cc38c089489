// The makers that registry.cc lists, and what rules share.
#pragma once

#include <memory>
#include <optional>

#include "core/base/json.h"
#include "core/verify/verifier.h"

namespace forerun {

// Each reads its parameters, all of them present, from `options`.
std::unique_ptr<Verifier> MakeGreedy(ObjectReader& options);
std::unique_ptr<Verifier> MakeExactMatch(ObjectReader& options);
std::unique_ptr<Verifier> MakeRejection(ObjectReader& options);
std::unique_ptr<Verifier> MakeBlock(ObjectReader& options);
std::unique_ptr<Verifier> MakeTreeTargetOnly(ObjectReader& options);
std::unique_ptr<Verifier> MakeTreeRecursive(ObjectReader& options);
std::unique_ptr<Verifier> MakeKSeq(ObjectReader& options);
std::unique_ptr<Verifier> MakeTraversal(ObjectReader& options);
std::unique_ptr<Verifier> MakeTypical(ObjectReader& options);
std::unique_ptr<Verifier> MakeRelaxed(ObjectReader& options);
std::unique_ptr<Verifier> MakeSynthetic(ObjectReader& options);

// The draft's probability of a child's token; 1 where the child was not drawn.
double DraftProbability(const TokenTree& tree, int child);

// What the children of one node were drawn from, as they are taken one by one in order of proposal. A
// deterministic child is a draw from a point mass; without replacement, q loses each child that was taken.
class SiblingDraft {
 public:
  SiblingDraft(const TokenTree& tree, int parent)
      : q_(tree.q(parent)), strikes_out_(tree.proposal(parent) == Proposal::kSampledWithoutReplacement) {}

  // The probability with which `token`, the next child, was drawn.
  double Of(TokenId token) const;
  // max(0, scale * p - the law that `token` was drawn from).
  Residual LeftOf(const Distribution& p, double scale, TokenId token) const;
  void Take(TokenId token);

 private:
  const Distribution& q() const { return rest_ ? *rest_ : *q_; }

  const Distribution* q_;             // null where deterministic
  std::optional<Distribution> rest_;  // of q_, once a child was struck out
  bool strikes_out_;
};

}  // namespace forerun
