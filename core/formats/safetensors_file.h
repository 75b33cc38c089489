// A safetensors file, memory-mapped and fully checked before anyone sees it: 8 bytes with the header's
// length, a JSON header that says of each tensor its type, shape and place, then the data. As for GGUF, every
// failure is one InvalidArgument or NotFound line "<file>: <header or tensor> at offset <n>: expected <...>,
// found
// <...>". Format: the safetensors README.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/formats/tensor_type.h"

namespace forerun {

enum class SafetensorsType { kF32, kF16, kBF16, kI64, kI32, kBool };
const char* SafetensorsTypeName(SafetensorsType type);  // "F32", as in the file

struct SafetensorsTensor {
  std::string name;
  SafetensorsType type = SafetensorsType::kF32;
  std::vector<int64_t> shape;       // outermost first; empty: one number
  std::span<const std::byte> data;  // inside the mapping, at any alignment
  int64_t elements() const;
};

class SafetensorsFile {
 public:
  static absl::StatusOr<SafetensorsFile> Open(absl::string_view path);
  // The same over bytes in memory, which must outlive the file; `name` stands for the path.
  static absl::StatusOr<SafetensorsFile> FromBytes(absl::string_view name, std::span<const std::byte> bytes);
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;
  ~SafetensorsFile();

  const std::string& path() const;
  const std::vector<SafetensorsTensor>& tensors() const;              // in order of their data
  const SafetensorsTensor* FindTensor(absl::string_view name) const;  // null where there is none

  // What is wrong with a tensor of this file, in the form of every other line.
  absl::Status Error(const SafetensorsTensor& tensor, absl::string_view expected,
                     absl::string_view found) const;
  // InvalidArgument where it has another shape.
  absl::Status CheckShape(const SafetensorsTensor& tensor, const std::vector<int64_t>& shape) const;
  // The type under which kernels know its numbers; InvalidArgument where they are not floats.
  absl::StatusOr<TensorType> FloatType(const SafetensorsTensor& tensor) const;
  absl::StatusOr<std::vector<float>> Floats(const SafetensorsTensor& tensor) const;      // of any float type
  absl::StatusOr<std::vector<int64_t>> Integers(const SafetensorsTensor& tensor) const;  // of I64, I32

 private:
  struct Contents;
  explicit SafetensorsFile(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace forerun
