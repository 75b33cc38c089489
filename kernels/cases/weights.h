// Random rows of any tensor type, for whatever tests or times the kernels that read weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/formats/tensor_type.h"
#include "kernels/matmul/packed_matrix.h"
#include "kernels/runtime/lane.h"

namespace forerun {

inline constexpr TensorType kAllTensorTypes[] = {
    TensorType::kF32,  TensorType::kF16,  TensorType::kBF16, TensorType::kQ4_0, TensorType::kQ4_1,
    TensorType::kQ5_0, TensorType::kQ5_1, TensorType::kQ8_0, TensorType::kQ2_K, TensorType::kQ3_K,
    TensorType::kQ4_K, TensorType::kQ5_K, TensorType::kQ6_K};

// GGUF rows, one after the other. Every bit of a quantised block is random except that its half-precision
// scales are finite; `extreme` lets them be subnormal or near 65504, otherwise they are around 0.01.
std::vector<std::byte> RandomWeights(TensorType type, int64_t outputs, int64_t columns, bool extreme,
                                     std::mt19937& random);

// Multiplies every half-precision scale, and so every weight, of quantised rows.
void ScaleWeights(TensorType type, float factor, std::vector<std::byte>& rows);

// A packed matrix with its memory.
class PackedWeights {
 public:
  PackedWeights(TensorType type, int64_t outputs, int64_t columns, const std::vector<std::byte>& rows);

  const PackedMatrix& matrix() const { return matrix_; }

 private:
  Lane memory_;  // an aligned allocation
  PackedMatrix matrix_;
};

}  // namespace forerun
