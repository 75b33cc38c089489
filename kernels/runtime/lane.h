// One thread's private scratch memory, handed to every kernel call.
#pragma once

#include <cstddef>

namespace forerun {

class Lane {
 public:
  Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane();

  // At least `bytes` bytes, 64-byte aligned, contents undefined; valid until the next call on this lane.
  void* Scratch(std::size_t bytes);

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace forerun
