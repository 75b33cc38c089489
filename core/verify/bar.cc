#include "core/verify/bar.h"

#include <algorithm>
#include <vector>

#include "core/verify/rules.h"

namespace forerun {
namespace {

struct Standing {
  bool stands = false;    // the whole path down to the node
  double likelihood = 0;  // of that path
  double p = 0;           // of the node's own token
};

// The node whose path is the longest, then the likeliest, then the first.
int BestEnd(const TokenTree& tree, const std::vector<Standing>& standings) {
  int best = 0;
  for (int node = 1; node < tree.size(); ++node) {
    if (!standings[node].stands) continue;
    const int depth = tree.node(node).depth, best_depth = tree.node(best).depth;
    const bool likelier = standings[node].likelihood > standings[best].likelihood;
    if (depth > best_depth || (depth == best_depth && likelier)) best = node;
  }
  return best;
}

}  // namespace

Verdict LongestPathOverBar(const TokenTree& tree, const TargetRows& target, Randoms& randoms,
                           const std::function<Distribution(int node)>& judged,
                           const std::function<Bar(const Distribution& row)>& bar) {
  std::vector<Standing> standings(tree.size());
  standings[0] = {.stands = true, .likelihood = 1};
  for (int node = 0; node < tree.size(); ++node) {
    const std::vector<int> children = tree.Children(node);
    if (!standings[node].stands || children.empty()) continue;
    const Distribution row = judged(node);
    const Bar node_bar = bar(row);
    for (const int child : children) {
      const double p = row[tree.node(child).token];
      standings[child] = {node_bar.Passes(p), standings[node].likelihood * p, p};
    }
  }
  Verdict verdict;
  for (int node = BestEnd(tree, standings); node > 0; node = tree.node(node).parent)
    verdict.accepted.push_back(node);
  std::reverse(verdict.accepted.begin(), verdict.accepted.end());
  int node = 0;
  for (std::size_t i = 0; i <= verdict.accepted.size(); ++i) {
    const int taken = i < verdict.accepted.size() ? verdict.accepted[i] : -1;
    for (const int child : tree.Children(node))
      verdict.examined.push_back({child, standings[child].p, DraftProbability(tree, child), child == taken});
    if (taken >= 0) node = taken;
  }
  verdict.bonus = tree.Children(node).empty();
  verdict.next = randoms.Draw(node, Purpose::kBonus, target.At(node));
  return verdict;
}

}  // namespace forerun
