// The f32 product over any Vector type. Float weights are read as they lie; quantised ones are dequantised a
// slice of columns at a time into scratch, which every row then runs over. Few rows take several groups at
// once, so that enough independent sums are in flight to hide the latency of the fma.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/matmul/matmul.h"
#include "kernels/matmul/packed_decode.h"

namespace forerun {

// Columns [begin, begin + count) of a quantised group to floats, [count][16]; multiples of 32.
template <class V, TensorType kType>
void DequantizeSlice(const std::byte* group, int64_t begin, int count, float* w) {
  using P = Packed<V, kType>;
  typename P::UnitScales unit_scales;
  for (int64_t block = begin / 32; block < (begin + count) / 32; ++block, w += 32 * kPackedOutputs) {
    const std::byte* unit = group + block / P::kBlocks * P::kLayout.UnitBytes();
    if (block % P::kBlocks == 0 || block == begin / 32) P::OpenUnit(unit, unit_scales);
    for (int half = 0; half < V::kHalves; ++half) {
      typename V::Bytes codes[8];
      P::Codes(unit + P::kLayout.scale_bytes + block % P::kBlocks * P::kLayout.CodeBytes(), half, codes);
      for (int sub = 0; sub < P::kSubs; ++sub) {
        typename V::Floats s, negative_m;
        P::Scale(unit, unit_scales, static_cast<int>(block % P::kBlocks) * P::kSubs + sub, half, s,
                 negative_m);
        auto put = [&](float* to, typename V::Ints code) {
          auto value = V::Mul(s, V::FromInts(V::AddInts(code, V::BroadcastInt(-P::kLayout.offset))));
          if constexpr (P::kLayout.has_min) value = V::Add(value, negative_m);
          V::StoreFloats(to, value);
        };
        for (int k = sub * 8 / P::kSubs; k < (sub + 1) * 8 / P::kSubs; ++k) {
          float* to = w + 4 * k * kPackedOutputs + half * V::kLanes;
          put(to, V::template Column<0>(codes[k]));
          put(to + kPackedOutputs, V::template Column<1>(codes[k]));
          put(to + 2 * kPackedOutputs, V::template Column<2>(codes[k]));
          put(to + 3 * kPackedOutputs, V::template Column<3>(codes[k]));
        }
      }
    }
  }
}

template <TensorType kFloat>
inline constexpr int kFloatBytes = kFloat == TensorType::kF32 ? 4 : 2;

template <class V, TensorType kFloat>
typename V::Floats LoadWeights(const std::byte* p) {
  if constexpr (kFloat == TensorType::kF16) return V::LoadHalves(p);
  if constexpr (kFloat == TensorType::kBF16) return V::LoadBFloats(p);
  return V::LoadFloats(reinterpret_cast<const float*>(p));
}

// What the rows run over: columns of kGroups groups, `stride` bytes from one group to the next.
struct Slice {
  const std::byte* weights;
  int64_t stride;
  int columns;
};

// sums[g][row] += slice[g] times the same columns of each row of x.
// x: rows of x_stride floats; sums: [kGroups][sums_stride], each [rows][16].
template <class V, TensorType kFloat, int kRows, int kGroups>
void MultiplySlice(const Slice& slice, const float* x, int64_t x_stride, float* sums, int64_t sums_stride) {
  constexpr int kHalves = V::kHalves;
  constexpr int kColumn = kPackedOutputs * kFloatBytes<kFloat>;
  typename V::Floats acc[kGroups][kRows][kHalves];
#pragma GCC unroll 8
  for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int h = 0; h < kHalves; ++h) {
        acc[g][r][h] = V::LoadFloats(sums + g * sums_stride + r * kPackedOutputs + h * V::kLanes);
      }
    }
  }
  for (int c = 0; c < slice.columns; ++c) {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 2
      for (int h = 0; h < kHalves; ++h) {
        const std::byte* at =
            slice.weights + g * slice.stride + c * kColumn + h * V::kLanes * kFloatBytes<kFloat>;
        const auto weight = LoadWeights<V, kFloat>(at);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r)
          acc[g][r][h] = V::Fma(weight, V::Broadcast(x[r * x_stride + c]), acc[g][r][h]);
      }
    }
  }
#pragma GCC unroll 8
  for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int h = 0; h < kHalves; ++h) {
        V::StoreFloats(sums + g * sums_stride + r * kPackedOutputs + h * V::kLanes, acc[g][r][h]);
      }
    }
  }
}

template <class V, TensorType kFloat, int kRows, int kGroups>
void MultiplyRows(const MatmulArgs& args, const Slice& slice, int64_t begin, float* sums) {
  const int64_t columns = args.weights.columns;
  const int64_t sums_stride = args.rows * kPackedOutputs;
  const float* x = args.x + begin;
  int64_t row = 0;
  for (; row + kRows <= args.rows; row += kRows) {
    MultiplySlice<V, kFloat, kRows, kGroups>(slice, x + row * columns, columns, sums + row * kPackedOutputs,
                                             sums_stride);
  }
  for (; row < args.rows; ++row) {
    MultiplySlice<V, kFloat, 1, kGroups>(slice, x + row * columns, columns, sums + row * kPackedOutputs,
                                         sums_stride);
  }
}

template <class V, TensorType kType, int kRows, int kGroups>
void MultiplyGroups(const MatmulArgs& args, int64_t group, Lane& lane) {
  constexpr bool kIsFloat =
      kType == TensorType::kF32 || kType == TensorType::kF16 || kType == TensorType::kBF16;
  constexpr int64_t kSliceColumns =
      256 / kGroups;  // 16 KiB of dequantised weights, whatever the number of groups
  constexpr int64_t kScratch = kIsFloat ? 0 : kGroups * kSliceColumns * kPackedOutputs;
  const int64_t columns = args.weights.columns;
  const auto group_bytes = static_cast<int64_t>(PackedGroupBytes(kType, columns));
  const std::byte* weights = args.weights.data + group * group_bytes;
  const int64_t sums_stride = args.rows * kPackedOutputs;
  auto* w = static_cast<float*>(lane.Scratch((kScratch + kGroups * sums_stride) * sizeof(float)));
  float* sums = w + kScratch;
  for (int64_t i = 0; i < kGroups * sums_stride; i += V::kLanes) V::StoreFloats(sums + i, V::Zero());
  for (int64_t begin = 0; begin < columns; begin += kSliceColumns) {
    const int count = static_cast<int>(columns - begin < kSliceColumns ? columns - begin : kSliceColumns);
    if constexpr (kIsFloat) {
      const Slice slice{weights + begin * kPackedOutputs * kFloatBytes<kType>, group_bytes, count};
      MultiplyRows<V, kType, kRows, kGroups>(args, slice, begin, sums);
    } else {
      for (int g = 0; g < kGroups; ++g) {
        DequantizeSlice<V, kType>(weights + g * group_bytes, begin, count,
                                  w + g * kSliceColumns * kPackedOutputs);
      }
      const Slice slice{reinterpret_cast<const std::byte*>(w), kSliceColumns * kPackedOutputs * 4, count};
      MultiplyRows<V, TensorType::kF32, kRows, kGroups>(args, slice, begin, sums);
    }
  }
  for (int g = 0; g < kGroups; ++g) {
    PutSums<V>(args, sums + g * sums_stride, 0, args.rows, group + g);
  }
}

template <class V, TensorType kType, int kRows, int kGroups>
void MultiplyRange(const MatmulArgs& args, WorkRange range, Lane& lane) {
  for (; range.begin + kGroups <= range.end; range.begin += kGroups) {
    MultiplyGroups<V, kType, kRows, kGroups>(args, range.begin, lane);
  }
  if constexpr (kGroups > 1) MultiplyRange<V, kType, kRows, kGroups / 2>(args, range, lane);
}

template <class V, TensorType kType>
void MatmulF32Type(const MatmulArgs& args, WorkRange range, Lane& lane) {
  constexpr int kChains = 8 / V::kHalves;  // sums of 16 outputs in registers
  if (args.rows == 0) return;
  if (args.rows == 1) return MultiplyRange<V, kType, 1, kChains>(args, range, lane);
  if (args.rows < 4) return MultiplyRange<V, kType, 2, kChains / 2>(args, range, lane);
  if (args.rows < 8) return MultiplyRange<V, kType, 4, kChains / 4>(args, range, lane);
  return MultiplyRange<V, kType, kChains, 1>(args, range, lane);
}

template <class V>
void MatmulF32(const MatmulArgs& args, WorkRange range, Lane& lane) {
  switch (args.weights.type) {
    case TensorType::kF32:
      return MatmulF32Type<V, TensorType::kF32>(args, range, lane);
    case TensorType::kF16:
      return MatmulF32Type<V, TensorType::kF16>(args, range, lane);
    case TensorType::kBF16:
      return MatmulF32Type<V, TensorType::kBF16>(args, range, lane);
    case TensorType::kQ4_0:
      return MatmulF32Type<V, TensorType::kQ4_0>(args, range, lane);
    case TensorType::kQ4_1:
      return MatmulF32Type<V, TensorType::kQ4_1>(args, range, lane);
    case TensorType::kQ5_0:
      return MatmulF32Type<V, TensorType::kQ5_0>(args, range, lane);
    case TensorType::kQ5_1:
      return MatmulF32Type<V, TensorType::kQ5_1>(args, range, lane);
    case TensorType::kQ8_0:
      return MatmulF32Type<V, TensorType::kQ8_0>(args, range, lane);
    case TensorType::kQ2_K:
      return MatmulF32Type<V, TensorType::kQ2_K>(args, range, lane);
    case TensorType::kQ3_K:
      return MatmulF32Type<V, TensorType::kQ3_K>(args, range, lane);
    case TensorType::kQ4_K:
      return MatmulF32Type<V, TensorType::kQ4_K>(args, range, lane);
    case TensorType::kQ5_K:
      return MatmulF32Type<V, TensorType::kQ5_K>(args, range, lane);
    case TensorType::kQ6_K:
      return MatmulF32Type<V, TensorType::kQ6_K>(args, range, lane);
  }
}

}  // namespace forerun
