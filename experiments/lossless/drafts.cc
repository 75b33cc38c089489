#include "experiments/lossless/drafts.h"

#include <utility>

namespace forerun {
namespace {

std::vector<TokenId> ContextOf(std::span<const TokenId> committed, const TokenTree& tree, int node) {
  std::vector<TokenId> context(committed.begin(), committed.end());
  for (const TokenId token : tree.PathTokens(node)) context.push_back(token);
  return context;
}

// Adds `count` children of `parent`, or as many as q has; their indices.
std::vector<int> AddChildren(const Distribution& q, Proposal proposal, int count, int parent,
                             DraftDraws& draws, TokenTree& tree) {
  if (proposal != Proposal::kDeterministic) tree.SetProposal(parent, proposal, q);
  std::vector<int> children;
  Distribution left = q;
  while (static_cast<int>(children.size()) < count && !left.empty()) {
    const TokenId token =
        proposal == Proposal::kDeterministic ? left.Argmax() : draws.Draw(tree, parent, left);
    children.push_back(tree.Add(parent, token));
    if (proposal != Proposal::kSampled) left = left.Without(token);
  }
  return children;
}

DraftFunction AsDeepAsTheBudget(const ContextTable& q, int width, Proposal proposal) {
  return [&q, width, proposal](std::span<const TokenId> committed, int budget, DraftDraws& draws,
                               TokenTree& tree) {
    Shaped(q, WideShape(width, budget), {proposal})(committed, budget, draws, tree);
  };
}

}  // namespace

TreeShape ChainShape(int length) { return WideShape(1, length); }

TreeShape WideShape(int width, int depth) {
  TreeShape parents;
  std::vector<int> level = {0};
  for (int i = 0; i < depth; ++i) {
    std::vector<int> next_level;
    for (const int parent : level) {
      for (int child = 0; child < width; ++child) {
        parents.push_back(parent);
        next_level.push_back(static_cast<int>(parents.size()));
      }
    }
    level = std::move(next_level);
  }
  return parents;
}

DraftFunction Shaped(const ContextTable& q, TreeShape shape, std::vector<Proposal> proposals) {
  return [&q, shape = std::move(shape), proposals = std::move(proposals)](
             std::span<const TokenId> committed, int budget, DraftDraws& draws, TokenTree& tree) {
    std::vector<int> in_tree(shape.size() + 1, -1);
    in_tree[0] = 0;
    for (std::size_t node = 0; node <= shape.size(); ++node) {
      std::vector<int> wanted;
      for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == static_cast<int>(node)) wanted.push_back(static_cast<int>(i) + 1);
      }
      const int parent = in_tree[node];
      if (parent < 0 || wanted.empty() || tree.node(parent).depth >= budget) continue;
      const Distribution row = DistributionAt(q, ContextOf(committed, tree, parent));
      const std::vector<int> children = AddChildren(row, proposals[node % proposals.size()],
                                                    static_cast<int>(wanted.size()), parent, draws, tree);
      for (std::size_t i = 0; i < children.size(); ++i) in_tree[wanted[i]] = children[i];
    }
  };
}

DraftFunction SampledChain(const ContextTable& q) { return SampledTree(q, 1); }
DraftFunction BestChain(const ContextTable& q) { return BestTree(q, 1); }
DraftFunction BestTree(const ContextTable& q, int width) {
  return AsDeepAsTheBudget(q, width, Proposal::kDeterministic);
}
DraftFunction SampledTree(const ContextTable& q, int width) {
  return AsDeepAsTheBudget(q, width, Proposal::kSampled);
}
DraftFunction SampledTreeWithoutReplacement(const ContextTable& q, int width) {
  return AsDeepAsTheBudget(q, width, Proposal::kSampledWithoutReplacement);
}

}  // namespace forerun
