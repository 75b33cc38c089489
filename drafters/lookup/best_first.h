// Grows a draft from an index of what follows what: of all tokens that could come next to any drafted one,
// the one with the greatest path probability is drafted, until the budget is spent. With one branch a node it
// is a chain. Ties: the shallower, then the earlier found.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/engine/drafter.h"

namespace forerun {

// A token that may follow, with its share of all that follows, and the place in the index where it leads.
template <class Place>
struct Follower {
  TokenId token = 0;
  double share = 0;
  Place place{};
};

struct GrowthLimits {
  int nodes = 0;
  int depth = 0;
  int branches = 1;            // children a node; 0: any number
  double min_probability = 0;  // of a path
};

struct GrownNode {
  TokenId token = 0;
  int parent = -1;  // index of an earlier one; -1: the root
  int depth = 1;
  double probability = 0;  // of the path
};

// `followers_of(place, path)` gives distinct tokens, the best first; `path` is the index of the grown node
// there, -1 for the root.
template <class Place, class FollowersOf>
std::vector<GrownNode> GrowBestFirst(const Place& root, const GrowthLimits& limits,
                                     const FollowersOf& followers_of) {
  struct Candidate {
    GrownNode node;
    int order = 0;
    Place place;
  };
  const auto worse = [](const Candidate& a, const Candidate& b) {
    if (a.node.probability != b.node.probability) return a.node.probability < b.node.probability;
    return a.node.depth != b.node.depth ? a.node.depth > b.node.depth : a.order > b.order;
  };
  std::vector<Candidate> frontier;  // a heap
  std::vector<GrownNode> grown;
  int order = 0;
  const auto expand = [&](const Place& place, int index, int depth, double probability) {
    if (depth >= limits.depth) return;
    int left = limits.nodes - static_cast<int>(grown.size());
    if (limits.branches > 0) left = std::min(left, limits.branches);
    for (const Follower<Place>& next : followers_of(place, index)) {
      if (left-- <= 0 || probability * next.share < limits.min_probability) break;
      frontier.push_back({{next.token, index, depth + 1, probability * next.share}, order++, next.place});
      std::push_heap(frontier.begin(), frontier.end(), worse);
    }
  };
  expand(root, -1, 0, 1.0);
  while (!frontier.empty() && static_cast<int>(grown.size()) < limits.nodes) {
    std::pop_heap(frontier.begin(), frontier.end(), worse);
    const Candidate best = std::move(frontier.back());
    frontier.pop_back();
    grown.push_back(best.node);
    expand(best.place, static_cast<int>(grown.size()) - 1, best.node.depth, best.node.probability);
  }
  return grown;
}

// Expected accepted tokens, if the shares are the target's.
double ExpectedAccepted(std::span<const GrownNode> grown);
void AddGrown(std::span<const GrownNode> grown, TokenTree& tree);  // below a root alone

}  // namespace forerun
