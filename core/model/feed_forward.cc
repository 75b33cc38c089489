// The feed-forward half of a layer.
#include "core/model/scratch.h"
#include "core/model/transformer.h"
#include "kernels/fused/gate_up.h"

namespace forerun {

void Transformer::FeedForward(int layer) {
  const LayerWeights& w = weights_.layers[layer];
  const int64_t width = config_.ffn_width;
  NormalizeFor({&w.gate, &w.up}, act_.stream, w.ffn_norm, rows_, fusion_.ffn, act_.normed);
  Prepare({&w.down}, rows_, width, act_.hidden);
  float* const gate = act_.hidden.x.data();
  float* const up = act_.up.data();
  const MatmulArgs gate_product = Product(w.gate, act_.normed, rows_, gate, width);
  const MatmulArgs up_product = Product(w.up, act_.normed, rows_, up, width);
  if (fusion_.ffn) {
    const GateUpArgs args{.kernels = &kernels_,
                          .gate_matmul = MatmulFor(w.gate),
                          .up_matmul = MatmulFor(w.up),
                          .gate = gate_product,
                          .up = up_product,
                          .activation = config_.traits.activation,
                          .to = act_.hidden.quantized()};
    const int64_t units = GateUpUnits(args);
    const int64_t group_bytes = PackedGroupBytes(w.gate.matrix.type, w.gate.matrix.columns) +
                                PackedGroupBytes(w.up.matrix.type, w.up.matrix.columns);
    threads_.Run(&GateUp, args, units, Grain(units, group_bytes * kGateUpColumns / kPackedOutputs));
    Count(w.gate);
    Count(w.up);
  } else {
    Multiply(w.gate, gate_product);
    Multiply(w.up, up_product);
    threads_.Run(kernels_.gate, GateArgs{config_.traits.activation, gate, up, gate, width}, rows_,
                 RowGrain(width));
    Quantize(act_.hidden);
  }
  MultiplyIntoStream(w.down, act_.hidden, w.post_ffn_norm);
}

}  // namespace forerun
