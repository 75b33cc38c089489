// What all heads compute with: float weights, packed for the kernels, and the few operations between them.
// Float weights are multiplied in f32 in every numerics (kernels/matmul/matmul.h); each row's result depends
// on that row alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/features.h"
#include "core/model/backbone.h"
#include "kernels/matmul/packed_matrix.h"
#include "kernels/runtime/buffer.h"

namespace forerun {

struct HeadMatrix {
  PackedMatrix matrix;
  std::vector<float> bias;  // [outputs] or empty
  Buffer storage;           // behind `matrix`
};
// `rows`: [outputs, columns] as stored, F32, F16 or BF16, at any alignment.
HeadMatrix PackHeadMatrix(TensorType type, std::span<const std::byte> rows, int64_t outputs, int64_t columns);

// Row by row: `left` beside `right`, both [rows, width].
std::vector<float> Beside(std::span<const float> left, std::span<const float> right, int64_t width);
// [rows, taps * width]: the states of each row side by side.
std::vector<float> JoinStates(const Features& states, int first_row, int rows);

class HeadMath {
 public:
  explicit HeadMath(const Backbone& backbone) : kernels_(backbone.kernels()), threads_(backbone.threads()) {}

  const Kernels& kernels() const { return kernels_; }
  ThreadPool& threads() const { return threads_; }

  // y = x w^T + bias, or added to y. x: [rows, columns], y: [rows, outputs].
  void Multiply(const HeadMatrix& w, const float* x, int64_t rows, float* y, bool add = false) const;
  // y = the norm of each row of x; y may be x.
  void Normalize(const float* x, const std::vector<float>& gain, float epsilon, int64_t rows, float* y) const;
  // y = y + silu(w x + bias). x: [rows, columns], y: [rows, outputs]; y may be x where w is square: the block
  // of Medusa's heads.
  void AddSilu(const HeadMatrix& w, const float* x, int64_t rows, float* y) const;
  MatmulArgs Product(const HeadMatrix& w, const float* x, int64_t rows, float* y) const;

 private:
  const Kernels& kernels_;
  ThreadPool& threads_;
};

}  // namespace forerun
