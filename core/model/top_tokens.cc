#include "core/model/top_tokens.h"

#include <algorithm>

namespace forerun {

void TopTokens::Offer(TokenId token, float logit) {
  if (!Takes(logit)) return;
  if (static_cast<int>(list_.size()) == k_) list_.pop_back();
  const auto place = std::find_if(list_.begin(), list_.end(),
                                  [logit](const ScoredToken& entry) { return entry.logit < logit; });
  list_.insert(place, {token, logit});
}

std::vector<ScoredToken> BestTokens(std::span<const float> logits, int k) {
  std::vector<ScoredToken> list;
  TopTokens top(list, k);
  for (std::size_t i = 0; i < logits.size(); ++i) top.Offer(static_cast<TokenId>(i), logits[i]);
  return list;
}

}  // namespace forerun
