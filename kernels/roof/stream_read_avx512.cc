// 64 bytes at once.
#include "kernels/roof/stream_read_simd.h"

namespace forerun {
namespace avx512 {
namespace {

struct Words {
  static constexpr int kBytes = 64;
  __m512i v;

  static Words Zero() { return {_mm512_setzero_si512()}; }
  void Xor(const std::byte* p) { v = _mm512_xor_si512(v, _mm512_load_si512(p)); }
  uint64_t Fold() const {
    alignas(64) uint64_t words[8];
    _mm512_store_si512(words, v);
    uint64_t sum = 0;
    for (const uint64_t word : words) sum ^= word;
    return sum;
  }
};

}  // namespace
}  // namespace avx512

void StreamReadAvx512(const StreamReadArgs& args, WorkRange range, Lane&) {
  StreamRead<avx512::Words>(args, range);
}

}  // namespace forerun
