// The mixes over the Vector types of the product itself (kernels/matmul/vector_avx2.h), so that the ceiling
// and the kernel cannot drift apart. Rows are what hides latency: kRows chains of sums run at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/roof/op_mix.h"

namespace forerun {

template <class V, int kRows, int kSubs, bool kMin>
void MultiplyOpMix(const OpMixArgs& args, int half, float* y) {
  constexpr int kGroups = 8 / kSubs;
  const auto* const codes = reinterpret_cast<const std::byte*>(args.codes) + 4 * V::kLanes * half;
  typename V::Bytes w[8];
  typename V::Floats s[kSubs], negative_m[kSubs], acc[kRows];
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) w[k] = V::Load(codes + 64 * k);
  for (int i = 0; i < kSubs; ++i) {
    s[i] = V::LoadFloats(args.scales + 16 * i + V::kLanes * half);
    if constexpr (kMin) negative_m[i] = V::Negate(V::LoadFloats(args.minima + 16 * i + V::kLanes * half));
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) acc[r] = V::Zero();
  for (int64_t b = 0; b < args.blocks; ++b) {
    const OpMixBlock* x = args.x + b % kOpMixRing * kRows;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int i = 0; i < kSubs; ++i) {
        const auto isum = V::template Dot<kGroups>(w + kGroups * i, x[r].codes + 4 * kGroups * i);
        acc[r] = V::Fma(V::FromInts(isum), V::Mul(s[i], V::Broadcast(x[r].d)), acc[r]);
        if constexpr (kMin) acc[r] = V::Fma(negative_m[i], V::Broadcast(x[r].d_qsum[i]), acc[r]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) V::StoreFloats(y + 16 * r + V::kLanes * half, acc[r]);
}

// All 16 outputs at once, so that a broadcast activation serves every vector of them.
template <class V, int kRows>
void MultiplyFmaMix(const FmaMixArgs& args, float* y) {
  constexpr int kHalves = 16 / V::kLanes;
  typename V::Floats acc[kRows][kHalves];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int h = 0; h < kHalves; ++h) acc[r][h] = V::Zero();
  }
  for (int64_t b = 0; b < args.blocks; ++b) {
    const float* x = args.x + b % kOpMixRing * 32 * kRows;
#pragma GCC unroll 4
    for (int k = 0; k < 32; ++k) {
      typename V::Floats w[kHalves];
#pragma GCC unroll 2
      for (int h = 0; h < kHalves; ++h) w[h] = V::LoadFloats(args.weights + 16 * k + V::kLanes * h);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const auto one = V::Broadcast(x[k * kRows + r]);
#pragma GCC unroll 2
        for (int h = 0; h < kHalves; ++h) acc[r][h] = V::Fma(w[h], one, acc[r][h]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int h = 0; h < kHalves; ++h) V::StoreFloats(y + 16 * r + V::kLanes * h, acc[r][h]);
  }
}

template <class V, int kRows>
void OpMixOfRows(const OpMixArgs& args, WorkRange range) {
  const auto multiply =
      args.sub_blocks == 1
          ? (args.has_min ? MultiplyOpMix<V, kRows, 1, true> : MultiplyOpMix<V, kRows, 1, false>)
          : (args.has_min ? MultiplyOpMix<V, kRows, 2, true> : MultiplyOpMix<V, kRows, 2, false>);
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    for (int half = 0; half < 16 / V::kLanes; ++half) multiply(args, half, args.y + unit * kRows * 16);
  }
}

template <class V>
void OpMix(const OpMixArgs& args, WorkRange range) {
  if (args.rows == 2) return OpMixOfRows<V, 2>(args, range);
  if (args.rows == 4) return OpMixOfRows<V, 4>(args, range);
  OpMixOfRows<V, 8>(args, range);
}

template <class V>
void FmaMix(const FmaMixArgs& args, WorkRange range) {
  const auto multiply = args.rows == 2   ? MultiplyFmaMix<V, 2>
                        : args.rows == 4 ? MultiplyFmaMix<V, 4>
                                         : MultiplyFmaMix<V, 8>;
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    multiply(args, args.y + unit * args.rows * 16);
  }
}

}  // namespace forerun
