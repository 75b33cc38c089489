#include "core/verify/drawn_target.h"

#include "core/verify/rules.h"

namespace forerun {

Verdict FollowDrawnTarget(const TokenTree& tree, const TargetRows& target,
                          const std::function<TokenId(int node, const Distribution& p)>& draw) {
  Verdict verdict;
  int node = 0;
  while (true) {
    const Distribution p = target.At(node);
    const TokenId drawn = draw(node, p);
    const std::vector<int> children = tree.Children(node);
    int next_node = -1;
    for (const int child : children) {
      const TokenId token = tree.node(child).token;
      verdict.examined.push_back({child, p[token], DraftProbability(tree, child), token == drawn});
      if (token != drawn) continue;
      next_node = child;
      break;
    }
    if (next_node < 0) {
      verdict.next = drawn;
      verdict.bonus = children.empty();
      return verdict;
    }
    verdict.accepted.push_back(next_node);
    node = next_node;
  }
}

}  // namespace forerun
