// One sequence of a drafter, asked for a draft at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/engine/drafter.h"

namespace forerun {

class Proposing {
 public:
  explicit Proposing(Drafter& drafter) : drafter_(drafter), state_(*drafter.Open()) {}

  // The chain proposed after `committed`, which may be any text; a failed test where there is an error.
  std::vector<TokenId> Draft(const std::vector<TokenId>& committed, int budget,
                             const Sampling& sampling = {});

 private:
  Drafter& drafter_;
  std::unique_ptr<DrafterState> state_;
};

}  // namespace forerun
