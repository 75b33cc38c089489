#include "kernels/runtime/lane.h"

#include <cstdio>
#include <cstdlib>

namespace forerun {

Lane::~Lane() { std::free(memory_); }

void* Lane::Scratch(std::size_t bytes) {
  if (bytes > bytes_) {
    std::free(memory_);
    bytes_ = (bytes + 4095) / 4096 * 4096;
    memory_ = std::aligned_alloc(64, bytes_);
    if (memory_ == nullptr) {
      std::fprintf(stderr, "out of memory: %zu bytes of kernel scratch\n", bytes_);
      std::abort();
    }
  }
  return memory_;
}

}  // namespace forerun
