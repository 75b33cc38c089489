#include "core/model/product_input.h"

#include "core/base/check.h"
#include "core/model/scratch.h"

namespace forerun {

void ProductInput::Prepare(int64_t rows, int64_t columns, std::initializer_list<TensorType> types) {
  Grown(x, rows * columns);
  quantized_ = QuantizedRows();
  quantized_.rows = rows;
  quantized_.columns = columns;
  for (const TensorType type : types) {
    if (IsFloat(type) || Arranged(type) != nullptr) continue;
    std::vector<std::byte>& memory = arranged_[quantized_.num_arrangements];
    quantized_.arrangements[quantized_.num_arrangements++] = {type,
                                                              Grown(memory, ArrangedBytes(rows, columns))};
  }
  if (quantized_.num_arrangements == 0) return;
  FORERUN_CHECK(columns % kActivationBlock == 0);
  quantized_.codes = Grown(codes_, rows * columns);
  quantized_.scales = Grown(scales_, rows * columns / 32);
  quantized_.sums = Grown(sums_, rows * columns / 16);
}

const std::byte* ProductInput::Arranged(TensorType type) const {
  for (int i = 0; i < quantized_.num_arrangements; ++i) {
    if (quantized_.arrangements[i].type == type) return quantized_.arrangements[i].arranged;
  }
  return nullptr;
}

}  // namespace forerun
