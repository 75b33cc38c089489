// 32 bytes at once.
#include "kernels/roof/stream_read_simd.h"

namespace forerun {
namespace avx2 {
namespace {

struct Words {
  static constexpr int kBytes = 32;
  __m256i v;

  static Words Zero() { return {_mm256_setzero_si256()}; }
  void Xor(const std::byte* p) {
    v = _mm256_xor_si256(v, _mm256_load_si256(reinterpret_cast<const __m256i*>(p)));
  }
  uint64_t Fold() const {
    alignas(32) uint64_t words[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(words), v);
    return words[0] ^ words[1] ^ words[2] ^ words[3];
  }
};

}  // namespace
}  // namespace avx2

void StreamReadAvx2(const StreamReadArgs& args, WorkRange range, Lane&) {
  StreamRead<avx2::Words>(args, range);
}

}  // namespace forerun
