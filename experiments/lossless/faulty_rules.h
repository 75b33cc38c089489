// Rules with mistakes that public code has made. With every knob off each is right, which shows that the
// mistake is what the laboratory sees.
#pragma once

#include "experiments/lossless/law.h"

namespace forerun {

class FaultyRule : public Verifier {
 public:
  absl::string_view name() const override { return "faulty"; }
  absl::string_view kept_for() const override { return "no draft"; }
  bool KeepsLaw(const DraftKind&, const Sampling&) const override { return true; }
};

// `rejection` of sampled chains.
class FaultyRejection final : public FaultyRule {
 public:
  bool draws_correction_from_p = false;
  bool unwarped_bonus = false;
  int inclusive_coin_bits = 0;  // coins are u <= p / q with u of so few bits: stands at u = 0 where p is 0
  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override;
};

// `block` of sampled chains.
class FaultyBlock final : public FaultyRule {
 public:
  bool token_wise = false;         // prefixes stand with P, not with the height h
  bool unscaled_residual = false;  // max(0, p - q) for max(0, P p - q)
  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override;
};

// `traversal` of trees sampled without replacement.
class FaultyTraversal final : public FaultyRule {
 public:
  bool divides_by_unsampled = false;  // P := min(1, S / (1 - q(x))) for S / (S + 1 - P)
  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override;
};

// The "nucleus" posterior of Medusa and REST: every leaf's path draws target tokens of its own, also at the
// nodes that it shares with others; the longest path that equals its draws stands, and the next token is
// drawn anew.
class RedrawnTarget final : public FaultyRule {
 public:
  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override;
};

}  // namespace forerun
