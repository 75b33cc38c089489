// The a8 product over any Vector type. A lane is an output, so the lanes never meet and every instruction set
// does the same float operations in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/matmul/activation_block.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/packed_decode.h"

namespace forerun {

// One activation tile of up to kTileRows rows against one group after the other.
template <class V, TensorType kType>
class A8Tile {
 public:
  using P = Packed<V, kType>;
  using Block = ActivationBlock<V, kType>;
  using Bytes = typename V::Bytes;
  using Floats = typename V::Floats;

  // blocks: [columns / 32][rows]
  static void Gather(const MatmulArgs& args, int64_t first_row, int rows, Block* blocks) {
    const int64_t columns = args.weights.columns;
    for (int64_t b = 0; b < columns / 32; ++b) {
      for (int r = 0; r < rows; ++r, ++blocks) {
        const int64_t row = first_row + r;
        blocks->Set(args.codes + row * columns + 32 * b, args.scales[row * (columns / 32) + b],
                    args.sums + (row * (columns / 32) + b) * 2);
      }
    }
  }

  // sums: [rows][16], overwritten. kRows > 0: that many rows, their sums in registers.
  template <int kRows>
  static void Multiply(const std::byte* group, int64_t columns, const Block* x, int rows, float* sums) {
    if constexpr (kRows > 0) rows = kRows;
    Floats acc[V::kHalves][kRows > 0 ? kRows : 1];
    for (int h = 0; h < V::kHalves; ++h) {
      for (int r = 0; r < (kRows > 0 ? kRows : 1); ++r) acc[h][r] = V::Zero();
    }
    if constexpr (kRows == 0) {
      for (int i = 0; i < rows * kPackedOutputs; i += V::kLanes) V::StoreFloats(sums + i, V::Zero());
    }
    typename P::UnitScales unit_scales;
    for (int64_t left = columns / P::kLayout.unit_columns; left > 0; --left) {
      P::OpenUnit(group, unit_scales);
#pragma GCC unroll 2
      for (int half = 0; half < V::kHalves; ++half) {
        for (int b = 0; b < P::kBlocks; ++b) {
          if (half == 0) Prefetch<kRows>(group + kAhead + b * kShare);
          MultiplyBlock<kRows>(group, unit_scales, b, half, x + b * rows, rows, acc[half],
                               sums + half * V::kLanes);
        }
      }
      group += P::kLayout.UnitBytes();
      x += P::kBlocks * rows;
    }
    if constexpr (kRows > 0) {
      for (int r = 0; r < kRows; ++r) {
        for (int h = 0; h < V::kHalves; ++h) {
          V::StoreFloats(sums + r * kPackedOutputs + h * V::kLanes, acc[h][r]);
        }
      }
    }
  }

 private:
  static constexpr int64_t kAhead = 7168;                             // bytes from use to prefetch
  static constexpr int kShare = P::kLayout.UnitBytes() / P::kBlocks;  // packed bytes of 32 columns
  static constexpr bool kCut = Block::kCut;

  template <int kRows>
  static void Prefetch(const std::byte* p) {
#pragma GCC unroll 10
    for (int i = 0; i < kShare; i += 64) V::template Prefetch<kRows == 1>(p + i);
  }

  // One half, 32 columns, all rows. `unit` is the scale unit that has the columns as its block `block`.
  template <int kRows>
  __attribute__((always_inline)) static inline void MultiplyBlock(const std::byte* unit,
                                                                  const typename P::UnitScales& unit_scales,
                                                                  int block, int half, const Block* x,
                                                                  int rows, Floats* acc, float* sums) {
    Bytes w[kCut ? 16 : 8];
    P::Codes(unit + P::kLayout.scale_bytes + block * P::kLayout.CodeBytes(), half, w);
    if constexpr (kCut) {
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) {
        w[8 + k] = V::template Field<4, 0, 4>(w[k]);
        w[k] = V::template Field<0, 0, 4>(w[k]);
      }
    }
    Floats s[P::kSubs], negative_m[P::kSubs];
    for (int i = 0; i < P::kSubs; ++i) {
      P::Scale(unit, unit_scales, block * P::kSubs + i, half, s[i], negative_m[i]);
    }
    if constexpr (kRows > 0) {
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) acc[r] = MultiplyRow(w, s, negative_m, x[r], acc[r]);
    } else {
      for (int r = 0; r < rows; ++r, sums += kPackedOutputs) {
        V::StoreFloats(sums, MultiplyRow(w, s, negative_m, x[r], V::LoadFloats(sums)));
      }
    }
  }

  __attribute__((always_inline)) static inline Floats MultiplyRow(const Bytes* w, const Floats* s,
                                                                  const Floats* negative_m, const Block& x,
                                                                  Floats acc) {
    constexpr int kGroups = 8 / P::kSubs;
#pragma GCC unroll 2
    for (int i = 0; i < P::kSubs; ++i) {
      const int8_t* codes = x.codes + 4 * kGroups * i;
      typename V::Ints isum;
      if constexpr (Block::kCenter != 0) {
        isum = V::template Dot<kGroups>(V::BroadcastInt(x.extra[Block::kStart + i]), w + kGroups * i, codes);
      } else {
        isum = V::template Dot<kGroups>(w + kGroups * i, codes);
      }
      if constexpr (kCut) isum = V::AddInts(isum, V::ShiftLeft4(V::template Dot<kGroups>(w + 8, codes)));
      if constexpr (Block::kHasRest) isum = V::AddInts(isum, V::BroadcastInt(x.extra[Block::kRest + i]));
      acc = V::Fma(V::FromInts(isum), V::Mul(s[i], V::Broadcast(x.d)), acc);
      if constexpr (P::kLayout.has_min) acc = V::Fma(negative_m[i], V::Broadcast(x.DQsum(i)), acc);
    }
    return acc;
  }
};

template <class V, TensorType kType, int kRows = V::kFixedRows>
void MultiplyGroup(const std::byte* group, int64_t columns, const ActivationBlock<V, kType>* x, int rows,
                   float* sums) {
  if (rows == kRows || kRows == 0)
    return A8Tile<V, kType>::template Multiply<kRows>(group, columns, x, rows, sums);
  if constexpr (kRows > 0) MultiplyGroup<V, kType, kRows - 1>(group, columns, x, rows, sums);
}

template <class V, TensorType kType>
void MatmulA8Type(const MatmulArgs& args, WorkRange range, Lane& lane) {
  using Block = ActivationBlock<V, kType>;
  constexpr int64_t kTileRows = 16;
  constexpr int64_t kChunkBytes = 1 << 20;  // packed weights that stay in cache between row tiles
  const int64_t columns = args.weights.columns;
  const int64_t group_bytes = static_cast<int64_t>(PackedGroupBytes(kType, columns));
  const int64_t tiles = (args.rows + kTileRows - 1) / kTileRows;
  if (tiles == 0) return;
  const int64_t fit = kChunkBytes / group_bytes > 0 ? kChunkBytes / group_bytes : 1;
  const int64_t chunk = tiles == 1 ? range.end - range.begin : fit;
  const int64_t tile_rows = (args.rows + tiles - 1) / tiles;
  auto* sums = static_cast<float*>(
      lane.Scratch(tile_rows * (kPackedOutputs * sizeof(float) + columns / 32 * sizeof(Block))));
  auto* x = reinterpret_cast<Block*>(sums + tile_rows * kPackedOutputs);
  for (int64_t begin = range.begin; begin < range.end; begin += chunk) {
    const int64_t end = begin + chunk < range.end ? begin + chunk : range.end;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t first = args.rows * tile / tiles;
      const int rows = static_cast<int>(args.rows * (tile + 1) / tiles - first);
      A8Tile<V, kType>::Gather(args, first, rows, x);
      for (int64_t group = begin; group < end; ++group) {
        MultiplyGroup<V, kType>(args.weights.data + group * group_bytes, columns, x, rows, sums);
        PutSums<V>(sums, rows, group, args.bias, args.weights.outputs, args.y + first * args.y_stride,
                   args.y_stride);
      }
    }
  }
}

// Float types are the caller's business.
template <class V>
void MatmulA8(const MatmulArgs& args, WorkRange range, Lane& lane) {
  switch (args.weights.type) {
    case TensorType::kQ4_0:
      return MatmulA8Type<V, TensorType::kQ4_0>(args, range, lane);
    case TensorType::kQ4_1:
      return MatmulA8Type<V, TensorType::kQ4_1>(args, range, lane);
    case TensorType::kQ5_0:
      return MatmulA8Type<V, TensorType::kQ5_0>(args, range, lane);
    case TensorType::kQ5_1:
      return MatmulA8Type<V, TensorType::kQ5_1>(args, range, lane);
    case TensorType::kQ8_0:
      return MatmulA8Type<V, TensorType::kQ8_0>(args, range, lane);
    case TensorType::kQ2_K:
      return MatmulA8Type<V, TensorType::kQ2_K>(args, range, lane);
    case TensorType::kQ3_K:
      return MatmulA8Type<V, TensorType::kQ3_K>(args, range, lane);
    case TensorType::kQ4_K:
      return MatmulA8Type<V, TensorType::kQ4_K>(args, range, lane);
    case TensorType::kQ5_K:
      return MatmulA8Type<V, TensorType::kQ5_K>(args, range, lane);
    case TensorType::kQ6_K:
      return MatmulA8Type<V, TensorType::kQ6_K>(args, range, lane);
    case TensorType::kF32:
    case TensorType::kF16:
    case TensorType::kBF16:
      return;
  }
}

}  // namespace forerun
