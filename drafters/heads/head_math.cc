#include "drafters/heads/head_math.h"

#include <algorithm>

#include "kernels/formats/tensor_type.h"

namespace forerun {

HeadMatrix PackHeadMatrix(TensorType type, std::span<const std::byte> rows, int64_t outputs,
                          int64_t columns) {
  HeadMatrix packed;
  packed.matrix = {type, outputs, columns, nullptr};
  packed.storage = Buffer(PackedBytes(type, outputs, columns));
  packed.matrix.data = packed.storage.data();
  const std::size_t row_bytes = RowBytes(type, columns), group_bytes = PackedGroupBytes(type, columns);
  for (int64_t group = 0; group < PackedGroups(outputs); ++group) {
    const int64_t first = group * kPackedOutputs;
    PackGroup(type, rows.data() + first * row_bytes,
              static_cast<int>(std::min<int64_t>(kPackedOutputs, outputs - first)), columns,
              packed.storage.data() + group * group_bytes);
  }
  return packed;
}

std::vector<float> Beside(std::span<const float> left, std::span<const float> right, int64_t width) {
  std::vector<float> both;
  both.reserve(left.size() + right.size());
  for (std::size_t at = 0; at < left.size(); at += width) {
    both.insert(both.end(), left.begin() + at, left.begin() + at + width);
    both.insert(both.end(), right.begin() + at, right.begin() + at + width);
  }
  return both;
}

std::vector<float> JoinStates(const Features& states, int first_row, int rows) {
  std::vector<float> joined;
  for (int row = first_row; row < first_row + rows; ++row) {
    for (int tap = 0; tap < static_cast<int>(states.taps.size()); ++tap) {
      const std::span<const float> state = states.Row(tap, row);
      joined.insert(joined.end(), state.begin(), state.end());
    }
  }
  return joined;
}

MatmulArgs HeadMath::Product(const HeadMatrix& w, const float* x, int64_t rows, float* y) const {
  return {.weights = w.matrix,
          .rows = rows,
          .x = x,
          .bias = w.bias.empty() ? nullptr : w.bias.data(),
          .y = y,
          .y_stride = w.matrix.outputs};
}

void HeadMath::Multiply(const HeadMatrix& w, const float* x, int64_t rows, float* y, bool add) const {
  MatmulArgs args = Product(w, x, rows, y);
  args.add = add;
  threads_.Run(kernels_.matmul_f32, args, PackedGroups(w.matrix.outputs), 1);
}

void HeadMath::Normalize(const float* x, const std::vector<float>& gain, float epsilon, int64_t rows,
                         float* y) const {
  const int64_t columns = static_cast<int64_t>(gain.size());
  threads_.Run(kernels_.rms_norm, RmsNormArgs{x, gain.data(), y, columns, epsilon}, rows, 8);
}

void HeadMath::AddSilu(const HeadMatrix& w, const float* x, int64_t rows, float* y) const {
  const int64_t columns = w.matrix.outputs;
  std::vector<float> gate(rows * columns);
  const std::vector<float> ones(rows * columns, 1.0f);
  Multiply(w, x, rows, gate.data());
  threads_.Run(kernels_.gate, GateArgs{Activation::kSilu, gate.data(), ones.data(), gate.data(), columns},
               rows, 8);
  threads_.Run(kernels_.add, AddArgs{gate.data(), y, columns}, rows, 8);
}

}  // namespace forerun
