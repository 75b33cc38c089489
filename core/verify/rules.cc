#include "core/verify/rules.h"

#include "core/base/check.h"

namespace forerun {

double DraftProbability(const TokenTree& tree, int child) {
  const Distribution* q = tree.q(tree.node(child).parent);
  return q == nullptr ? 1 : (*q)[tree.node(child).token];
}

double SiblingDraft::Of(TokenId token) const {
  if (q_ == nullptr) return 1;
  const double probability = q()[token];
  FORERUN_CHECK(probability > 0);  // a token outside q was not drawn from it
  return probability;
}

Residual SiblingDraft::LeftOf(const Distribution& p, double scale, TokenId token) const {
  if (q_ != nullptr) return p.Above(q(), scale);
  Distribution others = p.Without(token);
  return {others.empty() ? 0 : scale * (1 - p[token]), std::move(others)};
}

void SiblingDraft::Take(TokenId token) {
  if (strikes_out_) rest_ = q().Without(token);
}

}  // namespace forerun
