#include "core/formats/safetensors_file.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/formats/gguf_tensors.h"
#include "core/formats/mapped_file.h"
#include "core/formats/safetensors_header.h"

namespace forerun {
namespace {

template <class Stored>
std::vector<int64_t> Widened(std::span<const std::byte> data) {
  std::vector<int64_t> values;
  for (std::size_t at = 0; at < data.size(); at += sizeof(Stored)) {
    Stored stored;
    std::memcpy(&stored, data.data() + at, sizeof(Stored));
    values.push_back(stored);
  }
  return values;
}

}  // namespace

struct SafetensorsFile::Contents {
  std::optional<MappedFile> file;
  std::string path;
  std::span<const std::byte> bytes;
  std::vector<SafetensorsTensor> tensors;
  absl::flat_hash_map<std::string, std::size_t> index;
};

SafetensorsFile::SafetensorsFile(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

int64_t SafetensorsTensor::elements() const {
  return static_cast<int64_t>(data.size() / SafetensorsTypeBytes(type));
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(absl::string_view path) {
  FORERUN_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  FORERUN_ASSIGN_OR_RETURN(SafetensorsFile file, FromBytes(path, mapped.bytes()));
  file.contents_->file = std::move(mapped);
  return file;
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::FromBytes(absl::string_view name,
                                                           std::span<const std::byte> bytes) {
  auto contents = std::make_unique<Contents>();
  contents->path = std::string(name);
  contents->bytes = bytes;
  FORERUN_ASSIGN_OR_RETURN(contents->tensors, ReadSafetensorsHeader(name, bytes));
  for (std::size_t i = 0; i < contents->tensors.size(); ++i) contents->index[contents->tensors[i].name] = i;
  return SafetensorsFile(std::move(contents));
}

const std::string& SafetensorsFile::path() const { return contents_->path; }
const std::vector<SafetensorsTensor>& SafetensorsFile::tensors() const { return contents_->tensors; }

const SafetensorsTensor* SafetensorsFile::FindTensor(absl::string_view name) const {
  const auto found = contents_->index.find(name);
  return found == contents_->index.end() ? nullptr : &contents_->tensors[found->second];
}

absl::Status SafetensorsFile::Error(const SafetensorsTensor& tensor, absl::string_view expected,
                                    absl::string_view found) const {
  return SafetensorsError(contents_->path, TensorSubject(tensor.name),
                          static_cast<uint64_t>(tensor.data.data() - contents_->bytes.data()), expected,
                          found);
}

absl::Status SafetensorsFile::CheckShape(const SafetensorsTensor& tensor,
                                         const std::vector<int64_t>& shape) const {
  if (tensor.shape == shape) return absl::OkStatus();
  return Error(tensor, absl::StrCat("shape ", ShapeText(shape)), ShapeText(tensor.shape));
}

absl::StatusOr<TensorType> SafetensorsFile::FloatType(const SafetensorsTensor& tensor) const {
  switch (tensor.type) {
    case SafetensorsType::kF32:
      return TensorType::kF32;
    case SafetensorsType::kF16:
      return TensorType::kF16;
    case SafetensorsType::kBF16:
      return TensorType::kBF16;
    default:
      return Error(tensor, "F32, F16 or BF16", SafetensorsTypeName(tensor.type));
  }
}

absl::StatusOr<std::vector<float>> SafetensorsFile::Floats(const SafetensorsTensor& tensor) const {
  FORERUN_ASSIGN_OR_RETURN(const TensorType type, FloatType(tensor));
  std::vector<float> values(tensor.elements());
  DequantizeRow(type, tensor.data.data(), tensor.elements(), values.data());
  return values;
}

absl::StatusOr<std::vector<int64_t>> SafetensorsFile::Integers(const SafetensorsTensor& tensor) const {
  if (tensor.type == SafetensorsType::kI64) return Widened<int64_t>(tensor.data);
  if (tensor.type == SafetensorsType::kI32) return Widened<int32_t>(tensor.data);
  return Error(tensor, "I64 or I32", SafetensorsTypeName(tensor.type));
}

}  // namespace forerun
