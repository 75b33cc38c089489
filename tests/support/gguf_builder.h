// Writes GGUF files for tests: valid ones, and ones that lie in a chosen place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernels/formats/tensor_type.h"

namespace forerun {

// One line of the tensor table. What is not given follows from the rest.
struct GgufEntry {
  std::string name = "";
  std::vector<uint64_t> shape = {};  // innermost first
  uint32_t type = 0;
  std::string data = "";
  std::optional<uint32_t> num_dimensions = std::nullopt;
  std::optional<uint64_t> offset = std::nullopt;
};

// What the head and the end of the file say; the defaults are the truth.
struct GgufFrame {
  std::string magic = "GGUF";
  uint32_t version = 3;
  std::optional<uint64_t> num_tensors = std::nullopt;
  std::optional<uint64_t> num_keys = std::nullopt;
  uint64_t alignment = 32;   // of the data; writes no key
  std::string trailer = "";  // after the last tensor, whose padding is left out where there is a trailer
};

class GgufBuilder {
 public:
  GgufBuilder& U32(absl::string_view key, uint32_t value);
  GgufBuilder& F32(absl::string_view key, float value);
  GgufBuilder& Bool(absl::string_view key, bool value);
  GgufBuilder& String(absl::string_view key, absl::string_view value);
  GgufBuilder& Strings(absl::string_view key, const std::vector<std::string>& values);
  GgufBuilder& Floats(absl::string_view key, const std::vector<float>& values);
  GgufBuilder& Ints(absl::string_view key, const std::vector<int32_t>& values);
  // Any value type and any bytes after it.
  GgufBuilder& Value(absl::string_view key, uint32_t type, absl::string_view bytes);

  GgufBuilder& Tensor(absl::string_view name, const std::vector<int64_t>& shape,
                      const std::vector<float>& values);
  // data: the rows as the type stores them.
  GgufBuilder& Tensor(absl::string_view name, const std::vector<int64_t>& shape, TensorType type,
                      std::string data);
  GgufBuilder& Tensor(GgufEntry entry);

  std::string Build(const GgufFrame& frame = {}) const;

 private:
  uint64_t num_keys_ = 0;
  std::string keys_;
  std::vector<GgufEntry> entries_;
};

// The little-endian bytes of a number; of a string, its length (u64) and its bytes.
template <typename T>
std::string Packed(T value) {
  static_assert(std::is_arithmetic_v<T>);
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}
std::string PackedString(absl::string_view text);

std::span<const std::byte> AsBytes(const std::string& bytes);
// The path of a new file in the test's temporary directory.
std::string WriteTemporaryFile(absl::string_view name, absl::string_view bytes);

}  // namespace forerun
