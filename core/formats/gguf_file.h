// A GGUF v2/v3 file, memory-mapped and fully checked before anyone sees it. Nothing in a file can crash, hang
// or allocate without bound: every failure is one InvalidArgument or NotFound line "<file>: <key or tensor>
// at offset <n>: expected <...>, found <...>". Format: ggml's docs/gguf.md.
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

struct GgufTensor {
  std::string name;
  TensorType type = TensorType::kF32;
  std::vector<int64_t> shape;       // innermost first, as in the file: shape[0] columns
  std::span<const std::byte> data;  // inside the mapping
  int64_t columns() const { return shape.empty() ? 1 : shape[0]; }
  int64_t rows() const;  // product of the other dimensions
};

class GgufFile {
 public:
  static absl::StatusOr<GgufFile> Open(absl::string_view path);
  // The same over bytes in memory, which must outlive the file; `name` stands for the path.
  static absl::StatusOr<GgufFile> FromBytes(absl::string_view name, std::span<const std::byte> bytes);
  GgufFile(GgufFile&&) noexcept;
  GgufFile& operator=(GgufFile&&) noexcept;
  ~GgufFile();

  const std::string& path() const;
  uint32_t version() const;
  std::size_t file_bytes() const;

  bool Has(absl::string_view key) const;
  // NotFound where the key is missing, InvalidArgument where it has another type. Unsigned getters take any
  // integer type whose value fits.
  absl::StatusOr<uint32_t> GetU32(absl::string_view key) const;
  absl::StatusOr<float> GetF32(absl::string_view key) const;
  absl::StatusOr<bool> GetBool(absl::string_view key) const;
  absl::StatusOr<std::string> GetString(absl::string_view key) const;
  absl::StatusOr<std::vector<absl::string_view>> GetStrings(
      absl::string_view key) const;                                           // views into the mapping
  absl::StatusOr<std::vector<float>> GetFloats(absl::string_view key) const;  // array of f32
  absl::StatusOr<std::vector<int32_t>> GetInts(absl::string_view key) const;  // array of i32 or u32
  // The same, with a value for a missing key; a wrong type is still an error.
  absl::StatusOr<uint32_t> GetU32Or(absl::string_view key, uint32_t otherwise) const;
  absl::StatusOr<float> GetF32Or(absl::string_view key, float otherwise) const;
  absl::StatusOr<bool> GetBoolOr(absl::string_view key, bool otherwise) const;

  const std::vector<GgufTensor>& tensors() const;
  const GgufTensor* FindTensor(absl::string_view name) const;  // null where there is none
  // The tensor, if it is there with this shape.
  absl::StatusOr<const GgufTensor*> Tensor(absl::string_view name, std::vector<int64_t> shape) const;

  // Tells the kernel that these bytes of the mapping will not be needed soon: they stop counting as resident.
  void Release(std::span<const std::byte> bytes) const;
  // DataLoss where the file has changed length since it was mapped.
  absl::Status CheckUnchanged() const;
  // Opt-in scan of every block scale and float weight: InvalidArgument at the first NaN or infinity, or
  // where the output head (output.weight, else token_embd.weight) is all zeros.
  absl::Status CheckFinite() const;

 private:
  struct Contents;
  explicit GgufFile(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace forerun
