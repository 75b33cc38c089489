#include "drafters/lookup/best_first.h"

namespace forerun {

double ExpectedAccepted(std::span<const GrownNode> grown) {
  double sum = 0;
  for (const GrownNode& node : grown) sum += node.probability;
  return sum;
}

void AddGrown(std::span<const GrownNode> grown, TokenTree& tree) {
  for (const GrownNode& node : grown) tree.Add(node.parent + 1, node.token);
}

}  // namespace forerun
