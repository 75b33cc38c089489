// One word after the other, whatever `streams` and `ahead` say.
#include <cstring>

#include "kernels/roof/stream_read.h"

namespace forerun {

void StreamReadReference(const StreamReadArgs& args, WorkRange range, Lane&) {
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    const std::byte* from = args.data + unit * args.unit_bytes;
    uint64_t sum = 0;
    for (int64_t i = 0; i < args.unit_bytes; i += 8) {
      uint64_t word;
      std::memcpy(&word, from + i, 8);
      sum ^= word;
    }
    args.sums[unit] = sum;
  }
}

}  // namespace forerun
