#include "drafters/lookup/ngram_pool.h"

#include <algorithm>

namespace forerun {

void NgramPool::Insert(TokenId first, std::span<const TokenId> continuation) {
  std::vector<std::vector<TokenId>>& list = continuations_[first];
  auto place = std::find_if(list.begin(), list.end(), [&](const std::vector<TokenId>& known) {
    return std::equal(known.begin(), known.end(), continuation.begin(), continuation.end());
  });
  if (place == list.end()) {
    if (static_cast<int>(list.size()) < most_) list.emplace_back();
    place = list.end() - 1;  // new, or the one that was not used for longest
    place->assign(continuation.begin(), continuation.end());
  }
  std::rotate(list.begin(), place, place + 1);
}

std::span<const std::vector<TokenId>> NgramPool::After(TokenId first) const {
  const auto found = continuations_.find(first);
  if (found == continuations_.end()) return {};
  return found->second;
}

}  // namespace forerun
