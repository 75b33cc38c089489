// The reading loop over any Words type (one vector register).
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/roof/stream_read.h"

namespace forerun {

// 256 bytes of each stream in turn, each stream with sums of its own.
template <class Words, int kStreams, bool kPrefetch>
uint64_t ReadUnit(const std::byte* from, int64_t bytes, int64_t ahead) {
  constexpr int kVectors = 256 / Words::kBytes;
  const int64_t part = bytes / kStreams;
  Words sums[kStreams][4];
  for (int s = 0; s < kStreams; ++s) {
    for (int i = 0; i < 4; ++i) sums[s][i] = Words::Zero();
  }
  for (int64_t at = 0; at < part; at += 256) {
#pragma GCC unroll 4
    for (int s = 0; s < kStreams; ++s) {
      const std::byte* p = from + s * part + at;
      if constexpr (kPrefetch) {
#pragma GCC unroll 4
        for (int line = 0; line < 256; line += 64) {
          _mm_prefetch(reinterpret_cast<const char*>(p + ahead + line), _MM_HINT_T0);
        }
      }
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) sums[s][i % 4].Xor(p + i * Words::kBytes);
    }
  }
  uint64_t sum = 0;
  for (int s = 0; s < kStreams; ++s) {
    for (int i = 0; i < 4; ++i) sum ^= sums[s][i].Fold();
  }
  return sum;
}

template <class Words>
void StreamRead(const StreamReadArgs& args, WorkRange range) {
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    const std::byte* from = args.data + unit * args.unit_bytes;
    const auto read = [&](auto read_plainly, auto read_ahead) {
      return args.ahead == 0 ? read_plainly(from, args.unit_bytes, 0)
                             : read_ahead(from, args.unit_bytes, args.ahead);
    };
    args.sums[unit] = args.streams == 1   ? read(ReadUnit<Words, 1, false>, ReadUnit<Words, 1, true>)
                      : args.streams == 2 ? read(ReadUnit<Words, 2, false>, ReadUnit<Words, 2, true>)
                                          : read(ReadUnit<Words, 4, false>, ReadUnit<Words, 4, true>);
  }
}

}  // namespace forerun
