// The definition in matmul.h, in plain loops.
#include <cmath>
#include <cstring>

#include "kernels/matmul/block_codes.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/packed_layout.h"
#include "kernels/quantize_rows/quantize_rows.h"

namespace forerun {
namespace {

// The weights of one group as GGUF rows again, in the lane's scratch; `extra` more bytes follow at *rest.
struct GroupRows {
  int num_rows;
  std::size_t row_bytes;
  std::byte* rows;
  float* rest;
};

GroupRows Unpack(const PackedMatrix& weights, int64_t group, std::size_t extra, Lane& lane) {
  const int64_t left = weights.outputs - group * kPackedOutputs;
  GroupRows out;
  out.num_rows = static_cast<int>(left < kPackedOutputs ? left : kPackedOutputs);
  out.row_bytes = RowBytes(weights.type, weights.columns);
  out.rest = static_cast<float*>(lane.Scratch(extra + out.num_rows * out.row_bytes));
  out.rows = reinterpret_cast<std::byte*>(out.rest) + extra;
  UnpackGroup(weights.type, weights.data + group * PackedGroupBytes(weights.type, weights.columns),
              out.num_rows, weights.columns, out.rows);
  return out;
}

void Put(const MatmulArgs& args, int64_t row, int64_t output, float sum) {
  if (args.bias != nullptr) sum += args.bias[output];
  float& y = args.y[row * args.y_stride + output];
  y = args.add ? y + sum : sum;
}

// s and m of sub-block `sub` of a block.
struct SubBlock {
  float s;
  float m;
};

SubBlock ScalesOf(TensorType type, const BlockParts& parts, int sub) {
  const float d = HalfToFloat(parts.d);
  const auto signed_scale = static_cast<int8_t>(parts.scales[sub % 16]);
  switch (type) {
    case TensorType::kQ4_1:
    case TensorType::kQ5_1:
      return {d, -HalfToFloat(parts.m)};
    case TensorType::kQ2_K:
      return {d * static_cast<float>(parts.scales[sub] & 15),
              HalfToFloat(parts.m) * static_cast<float>(parts.scales[sub] >> 4)};
    case TensorType::kQ4_K:
    case TensorType::kQ5_K:
      return {d * static_cast<float>(parts.scales[sub]),
              HalfToFloat(parts.m) * static_cast<float>(parts.scales[8 + sub])};
    case TensorType::kQ3_K:
    case TensorType::kQ6_K:
      return {d * static_cast<float>(signed_scale), 0.0f};
    default:
      return {d, 0.0f};
  }
}

float DotA8(const MatmulArgs& args, const std::byte* weights, int64_t row) {
  const TensorType type = args.weights.type;
  const int64_t columns = args.weights.columns;
  const PackedLayout layout = LayoutOf(type);
  const int8_t* codes = args.codes + row * columns;
  float acc = 0.0f;
  BlockParts parts;
  for (int64_t begin = 0; begin < columns; begin += layout.sub_columns) {
    const int64_t in_unit = begin % layout.unit_columns;
    if (in_unit == 0) TakeApart(type, weights + begin / layout.unit_columns * Info(type).block_bytes, parts);
    int32_t isum = 0, qsum = 0;
    for (int i = 0; i < layout.sub_columns; ++i) {
      isum += (parts.codes[in_unit + i] - layout.offset) * codes[begin + i];
    }
    for (int i = 0; i < layout.sub_columns / 16; ++i)
      qsum += args.sums[row * (columns / 16) + begin / 16 + i];
    const float d = args.scales[row * (columns / kActivationBlock) + begin / kActivationBlock];
    const SubBlock sub = ScalesOf(type, parts, static_cast<int>(in_unit / layout.sub_columns));
    acc = std::fma(static_cast<float>(isum), sub.s * d, acc);
    if (layout.has_min) acc = std::fma(-sub.m, d * static_cast<float>(qsum), acc);
  }
  return acc;
}

}  // namespace

void MatmulF32Reference(const MatmulArgs& args, WorkRange range, Lane& lane) {
  const int64_t columns = args.weights.columns;
  for (int64_t group = range.begin; group < range.end; ++group) {
    const GroupRows unpacked = Unpack(args.weights, group, columns * sizeof(float), lane);
    float* w = unpacked.rest;
    for (int o = 0; o < unpacked.num_rows; ++o) {
      DequantizeRow(args.weights.type, unpacked.rows + o * unpacked.row_bytes, columns, w);
      for (int64_t row = 0; row < args.rows; ++row) {
        const float* x = args.x + row * columns;
        float acc = 0.0f;
        for (int64_t c = 0; c < columns; ++c) acc = std::fma(w[c], x[c], acc);
        Put(args, row, group * kPackedOutputs + o, acc);
      }
    }
  }
}

void ArrangeReference(const ArrangeArgs&, WorkRange, Lane&) {}

void MatmulA8Reference(const MatmulArgs& args, WorkRange range, Lane& lane) {
  if (IsFloat(args.weights.type)) return MatmulF32Reference(args, range, lane);
  for (int64_t group = range.begin; group < range.end; ++group) {
    const GroupRows unpacked = Unpack(args.weights, group, 0, lane);
    for (int o = 0; o < unpacked.num_rows; ++o) {
      for (int64_t row = 0; row < args.rows; ++row) {
        Put(args, row, group * kPackedOutputs + o, DotA8(args, unpacked.rows + o * unpacked.row_bytes, row));
      }
    }
  }
}

}  // namespace forerun
