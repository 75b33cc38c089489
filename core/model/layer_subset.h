// Which half-layers of a model a forward runs: a model that drafts for itself leaves some out. What is left
// out adds nothing to the residual stream, and attention left out writes no keys and values of its layer: the
// forward's rows may be followed only by rows of the same subset.
#pragma once

#include <vector>

namespace forerun {

struct LayerSubset {
  std::vector<bool> attention;     // [layers]; true: it runs
  std::vector<bool> feed_forward;  // [layers]

  // The first `kept` of `layers` layers.
  static LayerSubset First(int layers, int kept) {
    LayerSubset subset;
    for (int layer = 0; layer < layers; ++layer) subset.attention.push_back(layer < kept);
    subset.feed_forward = subset.attention;
    return subset;
  }
  static LayerSubset All(int layers) { return First(layers, layers); }

  friend bool operator==(const LayerSubset&, const LayerSubset&) = default;
};

}  // namespace forerun
