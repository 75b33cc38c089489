// N-grams by their first word, the latest used first: what `lookahead` has found and may guess again.
#pragma once

#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/types.h"

namespace forerun {

class NgramPool {
 public:
  // At most `most` continuations of each first word.
  explicit NgramPool(int most) : most_(most) {}
  // `continuation` becomes the latest after `first`.
  void Insert(TokenId first, std::span<const TokenId> continuation);
  // The latest first; valid until the next Insert.
  std::span<const std::vector<TokenId>> After(TokenId first) const;

 private:
  int most_;
  absl::flat_hash_map<TokenId, std::vector<std::vector<TokenId>>> continuations_;
};

}  // namespace forerun
