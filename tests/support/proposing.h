// One sequence of a drafter, asked for a draft at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/engine/drafter.h"
#include "core/model/model.h"

namespace forerun {

// Keys and values of `tokens`, as a sequence that has read them holds them.
BlockTable PagesOf(Model& model, KvPool& pool, std::span<const TokenId> tokens);

// What a drafter is asked; the rest of a DraftTask is fixed.
struct Asked {
  int budget = 4;
  int max_depth = 1 << 20;
  int prompt_length = 1;
  Sampling sampling = {};
  uint64_t request = 3;
  std::vector<TokenId> prediction = {};
  std::span<const EvidenceRow> evidence = {};
  const BlockTable* target_table = nullptr;
  const Features* features = nullptr;
};

class Proposing {
 public:
  explicit Proposing(Drafter& drafter) : drafter_(drafter), state_(*drafter.Open()) {}

  // What is proposed after `committed`, which may be any text; a failed test where there is an error.
  TokenTree DraftTree(const std::vector<TokenId>& committed, const Asked& asked);
  // The same of a chain: its tokens.
  std::vector<TokenId> Draft(const std::vector<TokenId>& committed, int budget,
                             const Sampling& sampling = {});

 private:
  Drafter& drafter_;
  std::unique_ptr<DrafterState> state_;
};

// "1(2 3(4))": the tokens below the root, children in order.
std::string TreeText(const TokenTree& tree);

}  // namespace forerun
