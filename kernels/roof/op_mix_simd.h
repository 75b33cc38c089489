// The mixes over any Ops type, a vector of kLanes outputs. Rows are what hides latency: kRows chains of sums
// run at once.
#pragma once

#include <cstdint>

#include "kernels/roof/op_mix.h"

namespace forerun {

template <class Ops, int kRows, int kSubs, bool kMin>
void MultiplyOpMix(const OpMixArgs& args, int half, float* y) {
  constexpr int kGroups = 8 / kSubs;
  typename Ops::Ints w[8];
  typename Ops::Floats s[kSubs], negative_m[kSubs], acc[kRows];
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) w[k] = Ops::LoadCodes(args.codes + 64 * k + 4 * Ops::kLanes * half);
  for (int i = 0; i < kSubs; ++i) {
    s[i] = Ops::Load(args.scales + 16 * i + Ops::kLanes * half);
    if constexpr (kMin) negative_m[i] = Ops::Negate(Ops::Load(args.minima + 16 * i + Ops::kLanes * half));
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) acc[r] = Ops::Zero();
  for (int64_t b = 0; b < args.blocks; ++b) {
    const OpMixBlock* x = args.x + b % kOpMixRing * kRows;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int i = 0; i < kSubs; ++i) {
        const auto isum = Ops::template Dot<kGroups>(w + kGroups * i, x[r].codes + 4 * kGroups * i);
        acc[r] = Ops::Fma(Ops::FromInts(isum), Ops::Mul(s[i], Ops::Broadcast(x[r].d)), acc[r]);
        if constexpr (kMin) acc[r] = Ops::Fma(negative_m[i], Ops::Broadcast(x[r].d_qsum[i]), acc[r]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) Ops::Store(y + 16 * r + Ops::kLanes * half, acc[r]);
}

// All 16 outputs at once, so that a broadcast activation serves every vector of them.
template <class Ops, int kRows>
void MultiplyFmaMix(const FmaMixArgs& args, float* y) {
  constexpr int kHalves = 16 / Ops::kLanes;
  typename Ops::Floats acc[kRows][kHalves];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int h = 0; h < kHalves; ++h) acc[r][h] = Ops::Zero();
  }
  for (int64_t b = 0; b < args.blocks; ++b) {
    const float* x = args.x + b % kOpMixRing * 32 * kRows;
#pragma GCC unroll 4
    for (int k = 0; k < 32; ++k) {
      typename Ops::Floats w[kHalves];
#pragma GCC unroll 2
      for (int h = 0; h < kHalves; ++h) w[h] = Ops::Load(args.weights + 16 * k + Ops::kLanes * h);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const auto one = Ops::Broadcast(x[k * kRows + r]);
#pragma GCC unroll 2
        for (int h = 0; h < kHalves; ++h) acc[r][h] = Ops::Fma(w[h], one, acc[r][h]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int h = 0; h < kHalves; ++h) Ops::Store(y + 16 * r + Ops::kLanes * h, acc[r][h]);
  }
}

template <class Ops, int kRows>
void OpMixOfRows(const OpMixArgs& args, WorkRange range) {
  const auto multiply =
      args.sub_blocks == 1
          ? (args.has_min ? MultiplyOpMix<Ops, kRows, 1, true> : MultiplyOpMix<Ops, kRows, 1, false>)
          : (args.has_min ? MultiplyOpMix<Ops, kRows, 2, true> : MultiplyOpMix<Ops, kRows, 2, false>);
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    for (int half = 0; half < 16 / Ops::kLanes; ++half) multiply(args, half, args.y + unit * kRows * 16);
  }
}

template <class Ops>
void OpMix(const OpMixArgs& args, WorkRange range) {
  if (args.rows == 2) return OpMixOfRows<Ops, 2>(args, range);
  if (args.rows == 4) return OpMixOfRows<Ops, 4>(args, range);
  OpMixOfRows<Ops, 8>(args, range);
}

template <class Ops>
void FmaMix(const FmaMixArgs& args, WorkRange range) {
  const auto multiply = args.rows == 2   ? MultiplyFmaMix<Ops, 2>
                        : args.rows == 4 ? MultiplyFmaMix<Ops, 4>
                                         : MultiplyFmaMix<Ops, 8>;
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    multiply(args, args.y + unit * args.rows * 16);
  }
}

}  // namespace forerun
