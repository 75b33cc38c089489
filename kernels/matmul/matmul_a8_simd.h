// The a8 product over any Vector type. A lane is an output, so the lanes never meet and every instruction set
// does the same float operations in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

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

  // What Multiply() on the groups in [group, end) will not ask for early enough.
  static void PrefetchStart(const std::byte* group, const std::byte* end) {
    for (const std::byte* p = group; p < group + kAhead && p < end; p += 64) V::template Prefetch<true>(p);
  }

  // sums: [rows][16], overwritten. kRows > 0: that many rows, their sums in registers. Weights are asked for
  // ahead of their use, up to `end`.
  template <int kRows>
  static void Multiply(const std::byte* group, const std::byte* end, int64_t columns, const Block* x,
                       int rows, float* sums) {
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
          const std::byte* const ahead = group + kAhead + b * kShare;
          if (half == 0 && ahead < end) Prefetch<kRows>(ahead);
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
void MultiplyGroup(const std::byte* group, const std::byte* end, int64_t columns,
                   const ActivationBlock<V, kType>* x, int rows, float* sums) {
  if (rows == kRows || kRows == 0)
    return A8Tile<V, kType>::template Multiply<kRows>(group, end, columns, x, rows, sums);
  if constexpr (kRows > 0) MultiplyGroup<V, kType, kRows - 1>(group, end, columns, x, rows, sums);
}

// Rows cut into near-even tiles of at most kMost: 33 rows are 17 and 16. For one V, as everything here.
template <class V>
struct RowTiles {
  static constexpr int64_t kMost = 32;
  int64_t rows;
  int64_t count = (rows + kMost - 1) / kMost;

  int64_t First(int64_t tile) const { return rows * tile / count; }
  int64_t TileOf(int64_t row) const {
    int64_t tile = row * count / rows;
    while (First(tile + 1) <= row) ++tile;
    return tile;
  }
};

// Arranged: the blocks of one tile after the other, each [columns / 32][rows of the tile].
template <class V, TensorType kType>
void ArrangeType(const ArrangeArgs& args, WorkRange range, Lane&) {
  using Block = ActivationBlock<V, kType>;
  static_assert(sizeof(Block) <= 64);
  const RowTiles<V> tiles{args.rows};
  const int64_t columns = args.columns, all_blocks = columns / 32;
  for (int64_t row = range.begin; row < range.end; ++row) {
    const int64_t tile = tiles.TileOf(row), first = tiles.First(tile), rows = tiles.First(tile + 1) - first;
    Block* const to = reinterpret_cast<Block*>(args.arranged) + first * all_blocks + (row - first);
    for (int64_t b = args.first_block; b < args.first_block + args.blocks; ++b) {
      const int64_t block = row * all_blocks + b;
      to[b * rows].Set(args.codes + 32 * block, args.scales[block], args.sums + 2 * block);
    }
  }
}

template <class V, TensorType kType>
void MatmulA8Type(const MatmulArgs& args, WorkRange range, Lane& lane) {
  using Block = ActivationBlock<V, kType>;
  constexpr int64_t kChunkBytes = 1 << 20;  // packed weights that stay in cache between row tiles
  if (args.rows == 0) return;
  const int64_t columns = args.weights.columns, all_blocks = columns / 32;
  const auto group_bytes = static_cast<int64_t>(PackedGroupBytes(kType, columns));
  const RowTiles<V> tiles{args.rows};
  const int64_t fit = kChunkBytes / group_bytes > 0 ? kChunkBytes / group_bytes : 1;
  const int64_t chunk = tiles.count == 1 ? range.end - range.begin : fit;
  const int64_t own = args.arranged != nullptr ? 0 : ArrangedBytes(args.rows, columns);
  auto* sums = static_cast<float*>(lane.Scratch(RowTiles<V>::kMost * kPackedOutputs * sizeof(float) + own));
  const std::byte* arranged = args.arranged;
  if (arranged == nullptr) {
    auto* const to = reinterpret_cast<std::byte*>(sums + RowTiles<V>::kMost * kPackedOutputs);
    ArrangeType<V, kType>({kType, args.rows, columns, 0, all_blocks, args.codes, args.scales, args.sums, to},
                          {0, args.rows}, lane);
    arranged = to;
  }
  for (int64_t begin = range.begin; begin < range.end; begin += chunk) {
    const int64_t end = begin + chunk < range.end ? begin + chunk : range.end;
    for (int64_t tile = 0; tile < tiles.count; ++tile) {
      const int64_t first = tiles.First(tile), rows = tiles.First(tile + 1) - first;
      const auto* x = reinterpret_cast<const Block*>(arranged) + first * all_blocks;
      const std::byte* const last = args.weights.data + end * group_bytes;
      if (tile == 0) A8Tile<V, kType>::PrefetchStart(args.weights.data + begin * group_bytes, last);
      for (int64_t group = begin; group < end; ++group) {
        MultiplyGroup<V, kType>(args.weights.data + group * group_bytes, last, columns, x,
                                static_cast<int>(rows), sums);
        PutSums<V>(args, sums, first, rows, group);
      }
    }
  }
}

// Calls work with the type as a constant; float types are the caller's business.
template <class Work>
void ForQuantised(TensorType type, Work work) {
  switch (type) {
    case TensorType::kQ4_0:
      return work(std::integral_constant<TensorType, TensorType::kQ4_0>());
    case TensorType::kQ4_1:
      return work(std::integral_constant<TensorType, TensorType::kQ4_1>());
    case TensorType::kQ5_0:
      return work(std::integral_constant<TensorType, TensorType::kQ5_0>());
    case TensorType::kQ5_1:
      return work(std::integral_constant<TensorType, TensorType::kQ5_1>());
    case TensorType::kQ8_0:
      return work(std::integral_constant<TensorType, TensorType::kQ8_0>());
    case TensorType::kQ2_K:
      return work(std::integral_constant<TensorType, TensorType::kQ2_K>());
    case TensorType::kQ3_K:
      return work(std::integral_constant<TensorType, TensorType::kQ3_K>());
    case TensorType::kQ4_K:
      return work(std::integral_constant<TensorType, TensorType::kQ4_K>());
    case TensorType::kQ5_K:
      return work(std::integral_constant<TensorType, TensorType::kQ5_K>());
    case TensorType::kQ6_K:
      return work(std::integral_constant<TensorType, TensorType::kQ6_K>());
    case TensorType::kF32:
    case TensorType::kF16:
    case TensorType::kBF16:
      return;
  }
}

template <class V>
void MatmulA8(const MatmulArgs& args, WorkRange range, Lane& lane) {
  ForQuantised(args.weights.type, [&](auto type) { MatmulA8Type<V, type()>(args, range, lane); });
}

template <class V>
void Arrange(const ArrangeArgs& args, WorkRange range, Lane& lane) {
  ForQuantised(args.type, [&](auto type) { ArrangeType<V, type()>(args, range, lane); });
}

}  // namespace forerun
