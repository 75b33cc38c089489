// Memory that knows its device. CPU memory is 64-byte aligned (large buffers sit on huge pages where the
// kernel has them) and zero until written; untouched pages do not count as resident.
#pragma once

#include <cstddef>
#include <utility>

namespace forerun {

enum class Device { kCpu };

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes, Device device = Device::kCpu);
  ~Buffer();
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }

 private:
  void swap(Buffer& other) {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  Device device_ = Device::kCpu;
};

}  // namespace forerun
