// What a forward multiplies by, for whoever weighs its time against what the machine could do.
#include "core/model/transformer.h"

namespace forerun {

std::vector<ModelMatrix> Transformer::matrices() const {
  std::vector<ModelMatrix> matrices;
  const auto add = [&](const LinearWeights& weights) {
    matrices.push_back(
        {weights.matrix.type, weights.matrix.outputs, weights.matrix.columns, UsesCodes(weights)});
  };
  for (const LayerWeights& layer : weights_.layers) {
    for (const LinearWeights* weights :
         {&layer.q, &layer.k, &layer.v, &layer.output, &layer.gate, &layer.up, &layer.down}) {
      add(*weights);
    }
  }
  add(weights_.head);
  return matrices;
}

}  // namespace forerun
