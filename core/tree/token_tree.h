// What a drafter proposes: a tree of tokens below the last committed one. A chain is a tree.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/sampling/distribution.h"

namespace forerun {

// How a parent's children were chosen; the lossless rule depends on it.
enum class Proposal {
  kDeterministic,              // a point mass on each child, in order
  kSampled,                    // independent draws from q
  kSampledWithoutReplacement,  // successive draws from q, each without the ones before
};
const char* ProposalName(Proposal proposal);  // "deterministic", "sampled", "sampled_without_replacement"

class TokenTree {
 public:
  struct Node {
    TokenId token = 0;
    int parent = -1;  // index of an earlier node; -1 for the root
    int depth = 0;
  };

  // Node 0 is the last committed token.
  explicit TokenTree(TokenId root) : nodes_{{root, -1, 0}}, rules_(1) {}

  // Appends a child and returns its index. Siblings keep their order: it is the order of proposal. Equal
  // siblings are a broken invariant except under kSampled, which is set before the second of them is added.
  int Add(int parent, TokenId token);
  // How `parent`'s children were chosen, and q unless deterministic. Default: deterministic.
  void SetProposal(int parent, Proposal proposal, std::optional<Distribution> q);

  int size() const { return static_cast<int>(nodes_.size()); }
  int num_drafted() const { return size() - 1; }
  int max_depth() const { return max_depth_; }  // of the deepest node; 0 for the root alone
  std::span<const Node> nodes() const { return nodes_; }
  const Node& node(int index) const { return nodes_[index]; }
  std::vector<int> Children(int node) const;
  Proposal proposal(int parent) const { return rules_[parent].proposal; }
  const Distribution* q(int parent) const { return rules_[parent].q ? &*rules_[parent].q : nullptr; }
  bool is_chain() const;                            // every node but the last has exactly one child, in order
  std::vector<TokenId> PathTokens(int node) const;  // below the root, down to and including `node`

 private:
  struct ChildRule {
    Proposal proposal = Proposal::kDeterministic;
    std::optional<Distribution> q;
  };
  std::vector<Node> nodes_;
  std::vector<ChildRule> rules_;  // [nodes]
  int max_depth_ = 0;
};

}  // namespace forerun
