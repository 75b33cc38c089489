// Rows that matrix products read: as floats, and where the numerics want it as codes.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "kernels/fused/quantized_rows.h"

namespace forerun {

struct ProductInput {
  std::vector<float> x;  // [rows, columns]

  // Makes room, and says where the codes go for products with weights of these types; none: floats only.
  // What was said before is forgotten.
  void Prepare(int64_t rows, int64_t columns, std::initializer_list<TensorType> types);

  const QuantizedRows& quantized() const { return quantized_; }
  // For a product with weights of one of the types.
  const std::byte* Arranged(TensorType type) const;

 private:
  std::vector<int8_t> codes_;
  std::vector<float> scales_;
  std::vector<int32_t> sums_;
  std::array<std::vector<std::byte>, QuantizedRows::kMostTypes> arranged_;
  QuantizedRows quantized_;
};

}  // namespace forerun
