#include "kernels/cases/activations.h"

#include <utility>

#include "kernels/quantize_rows/quantize_rows.h"

namespace forerun {

Activations::Activations(std::vector<float> values, int64_t columns_of_row)
    : columns(columns_of_row), x(std::move(values)) {
  if (columns % 32 != 0) return;
  codes.resize(x.size());
  scales.resize(x.size() / 32);
  sums.resize(x.size() / 16);
  const QuantizeRowsArgs args{
      .x = x.data(), .columns = columns, .codes = codes.data(), .scales = scales.data(), .sums = sums.data()};
  Lane lane;
  QuantizeRowsReference(args, {0, static_cast<int64_t>(x.size()) / columns}, lane);
}

MatmulArgs Activations::Rows(int64_t first, int64_t rows) const {
  MatmulArgs args;
  args.rows = rows;
  args.x = x.data() + first * columns;
  if (codes.empty()) return args;
  args.codes = codes.data() + first * columns;
  args.scales = scales.data() + first * (columns / 32);
  args.sums = sums.data() + first * (columns / 16);
  return args;
}

}  // namespace forerun
