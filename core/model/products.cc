// The matrix products of a layer, and what prepares their inputs.
#include <algorithm>

#include "core/model/scratch.h"
#include "core/model/transformer.h"
#include "kernels/fused/norm_quantize.h"

namespace forerun {

bool Transformer::UsesCodes(const LinearWeights& weights) const {
  return numerics_ == Numerics::kA8 && !IsFloat(weights.matrix.type);
}

void Transformer::Prepare(std::initializer_list<const LinearWeights*> users, int64_t rows, int64_t columns,
                          ProductInput& input) const {
  TensorType types[QuantizedRows::kMostTypes] = {TensorType::kF32, TensorType::kF32, TensorType::kF32};
  int count = 0;
  for (const LinearWeights* weights : users) {
    if (UsesCodes(*weights)) types[count++] = weights->matrix.type;
  }
  input.Prepare(rows, columns, {types[0], types[1], types[2]});
}

void Transformer::NormalizeFor(std::initializer_list<const LinearWeights*> users, const std::vector<float>& x,
                               const std::vector<float>& gain, int64_t rows, bool fused,
                               ProductInput& input) {
  Prepare(users, rows, config_.width, input);
  const RmsNormArgs norm{x.data(), gain.data(), input.x.data(), config_.width, config_.norm_epsilon};
  if (fused) {
    threads_.Run(&NormQuantize, NormQuantizeArgs{&kernels_, norm, input.quantized()}, rows,
                 RowGrain(config_.width));
  } else {
    threads_.Run(kernels_.rms_norm, norm, rows, RowGrain(config_.width));
    Quantize(input);
  }
}

void Transformer::Quantize(ProductInput& input) {
  const QuantizedRows& to = input.quantized();
  if (to.num_arrangements == 0) return;
  threads_.Run(kernels_.quantize_rows,
               QuantizeRowsArgs{input.x.data(), to.columns, to.codes, to.scales, to.sums}, to.rows,
               RowGrain(to.columns));
  for (int i = 0; i < to.num_arrangements; ++i) {
    const ArrangeArgs args{.type = to.arrangements[i].type,
                           .rows = to.rows,
                           .columns = to.columns,
                           .first_block = 0,
                           .blocks = to.columns / kActivationBlock,
                           .codes = to.codes,
                           .scales = to.scales,
                           .sums = to.sums,
                           .arranged = to.arrangements[i].arranged};
    threads_.Run(kernels_.arrange, args, to.rows, RowGrain(to.columns));
  }
}

void Transformer::Normalize(float* x, const std::vector<float>& gain, int64_t rows, int64_t columns) {
  threads_.Run(kernels_.rms_norm, RmsNormArgs{x, gain.data(), x, columns, config_.norm_epsilon}, rows,
               RowGrain(columns));
}

MatmulArgs Transformer::Product(const LinearWeights& weights, const ProductInput& input, int64_t rows,
                                float* y, int64_t y_stride) const {
  const QuantizedRows& quantized = input.quantized();
  return {.weights = weights.matrix,
          .rows = rows,
          .x = input.x.data(),
          .codes = quantized.codes,
          .scales = quantized.scales,
          .sums = quantized.sums,
          .arranged = input.Arranged(weights.matrix.type),
          .bias = weights.bias.empty() ? nullptr : weights.bias.data(),
          .y = y,
          .y_stride = y_stride};
}

KernelFn<MatmulArgs> Transformer::MatmulFor(const LinearWeights& weights) const {
  return UsesCodes(weights) ? kernels_.matmul_a8 : kernels_.matmul_f32;
}

// At least kBytes of weights, since a run of memory is slow at its start; but a quarter of the work at most
// for two threads, so that a slow one can leave some to the other.
int64_t Transformer::Grain(int64_t units, int64_t unit_bytes) const {
  constexpr int64_t kBytes = 64 << 10;
  const int64_t most = units / (2 * threads_.num_threads());
  return std::max<int64_t>(1, std::min(most, kBytes / unit_bytes));
}

void Transformer::Multiply(const LinearWeights& weights, const MatmulArgs& product) {
  const PackedMatrix& matrix = weights.matrix;
  const int64_t groups = PackedGroups(matrix.outputs);
  threads_.Run(MatmulFor(weights), product, groups,
               Grain(groups, PackedGroupBytes(matrix.type, matrix.columns)));
  Count(weights);
}

void Transformer::Count(const LinearWeights& weights) {
  counters_.weight_bytes_read +=
      PackedBytes(weights.matrix.type, weights.matrix.outputs, weights.matrix.columns);
}

void Transformer::MultiplyIntoStream(const LinearWeights& weights, const ProductInput& input,
                                     const std::vector<float>& post_norm) {
  float* const stream = act_.stream.data();
  const int64_t width = config_.width;
  if (fusion_.residual && post_norm.empty()) {
    MatmulArgs product = Product(weights, input, rows_, stream, width);
    product.add = true;
    return Multiply(weights, product);
  }
  float* const added = act_.added.data();
  Multiply(weights, Product(weights, input, rows_, added, width));
  if (fusion_.residual) {
    const RmsNormArgs norm{added, post_norm.data(), added, width, config_.norm_epsilon};
    threads_.Run(&NormAdd, NormAddArgs{&kernels_, norm, stream}, rows_, RowGrain(width));
    return;
  }
  if (!post_norm.empty()) Normalize(added, post_norm, rows_, width);
  threads_.Run(kernels_.add, AddArgs{added, stream, width}, rows_, RowGrain(width));
}

}  // namespace forerun
