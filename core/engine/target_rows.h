// The target's distributions at the nodes of one sequence's tree, made from the forward's outputs when a rule
// asks.
#pragma once

#include <span>

#include "core/engine/request.h"
#include "core/model/forward_batch.h"
#include "core/tree/token_tree.h"
#include "core/verify/verifier.h"

namespace forerun {

class ForwardTargetRows final : public TargetRows {
 public:
  // `outputs`: [nodes], node i's row; argmax where nothing else is read, full logits otherwise.
  ForwardTargetRows(const Request& request, std::span<const TokenId> committed, const TokenTree& tree,
                    std::span<const RowOutput> outputs)
      : request_(request), committed_(committed), tree_(tree), outputs_(outputs) {}

  Distribution At(int node) const override;
  Distribution UnwarpedAt(int node) const override;
  TokenId BestAt(int node) const override;
  int64_t PositionAfter(int node) const override {
    return static_cast<int64_t>(committed_.size()) + tree_.node(node).depth;
  }

 private:
  Distribution Row(int node, const Sampling& sampling) const;

  const Request& request_;
  std::span<const TokenId> committed_;
  const TokenTree& tree_;
  std::span<const RowOutput> outputs_;
};

// The natural log of the target's unwarped probability of `token`.
double LogProbability(std::span<const float> logits, TokenId token);

}  // namespace forerun
