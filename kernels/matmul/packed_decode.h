// Packed groups to vectors of codes and scales, for any Vector type (vector_avx2.h): included by files of one
// instruction set only, and every template depends on that set's Vector.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/matmul/matmul.h"
#include "kernels/matmul/packed_layout.h"
#include "kernels/matmul/packed_matrix.h"

namespace forerun {

template <class V, TensorType kType>
struct Packed {
  using Bytes = typename V::Bytes;
  using Floats = typename V::Floats;

  static constexpr PackedLayout kLayout = LayoutOf(kType);
  static constexpr int kBits = kLayout.low_bits + kLayout.high_bits;
  static constexpr int kSubs = 32 / kLayout.sub_columns;     // sub-blocks in 32 columns
  static constexpr int kBlocks = kLayout.unit_columns / 32;  // 32-column blocks in a scale unit
  static constexpr bool kSixBits = kType == TensorType::kQ4_K || kType == TensorType::kQ5_K;

  // The eight k-groups of one half of the 32 columns at `codes`.
  static void Codes(const std::byte* codes, int half, Bytes w[8]) {
    Bytes raw[kBits];
#pragma GCC unroll 8
    for (int i = 0; i < kBits; ++i) raw[i] = V::Load(codes + 64 * i + 4 * V::kLanes * half);
    Decode<0>(raw, w);
  }

  // Byte scales of one unit, one byte a lane: sc [16][16] and mn [16][16].
  struct UnitScales {
    alignas(64) uint8_t bytes[2][256];
  };

  static void OpenUnit(const std::byte* scales, UnitScales& unit) {
    constexpr int kSize = 4 * V::kLanes;
    auto store = [&](int which, int at, Bytes v) { __builtin_memcpy(unit.bytes[which] + at, &v, kSize); };
    if constexpr (kSixBits) {
#pragma GCC unroll 2
      for (int i = 0; i < 64; i += kSize) {
        const Bytes low = V::Load(scales + 64 + i), high = V::Load(scales + 128 + i),
                    top = V::Load(scales + 192 + i);
        store(0, i, V::template FieldOr<0, 4, 2>(top, V::template Field<0, 0, 4>(low)));
        store(0, 64 + i, V::template FieldOr<4, 4, 2>(top, V::template Field<0, 0, 4>(high)));
        store(1, i, V::template FieldOr<2, 4, 2>(top, V::template Field<4, 0, 4>(low)));
        store(1, 64 + i, V::template FieldOr<6, 4, 2>(top, V::template Field<4, 0, 4>(high)));
      }
    } else if constexpr (kType == TensorType::kQ2_K) {
      for (int i = 0; i < 256; i += kSize) {
        const Bytes both = V::Load(scales + 64 + i);
        store(0, i, V::template Field<0, 0, 4>(both));
        store(1, i, V::template Field<4, 0, 4>(both));
      }
    }
  }

  // s and -m (where the type has a minimum) of sub-block `sub` of the unit.
  static void Scale(const std::byte* scales, const UnitScales& unit, int sub, int half, Floats& s,
                    Floats& negative_m) {
    const int lane = half * V::kLanes;
    const Floats d = V::LoadHalves(scales + 2 * lane);
    if constexpr (kLayout.unit_columns == 32) {
      s = d;
      if constexpr (kLayout.has_min) negative_m = V::LoadHalves(scales + 32 + 2 * lane);
    } else if constexpr (kLayout.has_min) {
      const Floats dmin = V::LoadHalves(scales + 32 + 2 * lane);
      s = V::Mul(d, V::FromUnsigned(unit.bytes[0] + 16 * sub + lane));
      negative_m = V::Mul(V::Negate(dmin), V::FromUnsigned(unit.bytes[1] + 16 * sub + lane));
    } else {
      const auto* sc = reinterpret_cast<const uint8_t*>(scales) + 32;
      s = V::Mul(d, V::FromSigned(sc + 16 * sub + lane));
    }
  }

 private:
  template <int k>
  static void Decode(const Bytes* raw, Bytes* w) {
    if constexpr (k < 8) {
      constexpr int kLow = kLayout.low_bits, kHigh = kLayout.high_bits;
      if constexpr (kLow == 8) w[k] = raw[k];
      if constexpr (kLow == 4) w[k] = V::template Field<4 * (k / 4), 0, 4>(raw[k % 4]);
      if constexpr (kLow == 2) w[k] = V::template Field<2 * (k % 4), 0, 2>(raw[k / 4]);
      if constexpr (kHigh == 1) w[k] = V::template FieldOr<k, kLow, 1>(raw[kLow], w[k]);
      if constexpr (kHigh == 2) w[k] = V::template FieldOr<2 * (k % 4), kLow, 2>(raw[kLow + k / 4], w[k]);
      Decode<k + 1>(raw, w);
    }
  }
};

// Finishes rows [first_row, first_row + rows) of one group: `sums`, [rows][16], and the bias, into y.
template <class V>
void PutSums(const MatmulArgs& args, const float* sums, int64_t first_row, int64_t rows, int64_t group) {
  const int64_t first = group * kPackedOutputs;
  const int64_t left = args.weights.outputs - first;
  const int count = left < kPackedOutputs ? static_cast<int>(left) : kPackedOutputs;
  const float* const bias = args.bias;
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = sums + row * kPackedOutputs;
    float* to = args.y + (first_row + row) * args.y_stride + first;
    if (count == kPackedOutputs) {
      for (int lane = 0; lane < kPackedOutputs; lane += V::kLanes) {
        typename V::Floats sum = V::LoadFloats(from + lane);
        if (bias != nullptr) sum = V::Add(sum, V::LoadFloats(bias + first + lane));
        if (args.add) sum = V::Add(V::LoadFloats(to + lane), sum);
        V::StoreFloats(to + lane, sum);
      }
    } else {
      for (int o = 0; o < count; ++o) {
        const float sum = bias != nullptr ? from[o] + bias[first + o] : from[o];
        to[o] = args.add ? to[o] + sum : sum;
      }
    }
  }
}

}  // namespace forerun
