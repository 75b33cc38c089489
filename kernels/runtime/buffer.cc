#include "kernels/runtime/buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace forerun {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::byte* Map(std::size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "forerun: out of memory: cannot map %zu bytes\n", bytes);
    std::exit(4);
  }
  return static_cast<std::byte*>(memory);
}

// Aligned to a huge page: maps more and gives back what sticks out on either side.
std::byte* MapHuge(std::size_t bytes) {
  std::byte* raw = Map(bytes + kHugePage);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(raw) % kHugePage) % kHugePage;
  const std::size_t end = (before + bytes + 4095) / 4096 * 4096;
  if (before > 0) munmap(raw, before);
  if (end < bytes + kHugePage) munmap(raw + end, bytes + kHugePage - end);
  madvise(raw + before, bytes, MADV_HUGEPAGE);
  return raw + before;
}

}  // namespace

Buffer::Buffer(std::size_t bytes, Device device) : bytes_(bytes), device_(device) {
  if (bytes > 0) data_ = bytes >= 4 * kHugePage ? MapHuge(bytes) : Map(bytes);
}

Buffer::~Buffer() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace forerun
