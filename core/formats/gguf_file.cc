// Opening in the order of the file: header, keys, what the keys say about the layout, tensors.
#include "core/formats/gguf_file.h"

#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/formats/gguf_finite.h"
#include "core/formats/gguf_metadata.h"
#include "core/formats/gguf_reader.h"
#include "core/formats/gguf_tensors.h"
#include "core/formats/mapped_file.h"

namespace forerun {
namespace {

constexpr absl::string_view kMagic = "GGUF";
constexpr uint64_t kMinKeyBytes = 8 + 1 + 4 + 1;             // name, value type, value
constexpr uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;  // name, dimensions, type, offset

struct Header {
  uint32_t version;
  uint64_t num_tensors;
  uint64_t num_keys;
};

absl::StatusOr<uint32_t> ReadVersion(GgufReader& reader) {
  FORERUN_ASSIGN_OR_RETURN(const auto magic, reader.Read<uint32_t>("the magic 'GGUF'"));
  const absl::string_view text(reinterpret_cast<const char*>(&magic), sizeof(magic));
  if (text != kMagic) return reader.Error(0, "the magic 'GGUF'", Quoted(text));
  FORERUN_ASSIGN_OR_RETURN(const uint32_t version, reader.Read<uint32_t>("the version"));
  if (version == 2 || version == 3) return version;
  const bool is_swapped = version != 0 && (version & 0xffff) == 0;
  return reader.Error(
      4, "version 2 or 3, little-endian",
      absl::StrCat(is_swapped ? __builtin_bswap32(version) : version, is_swapped ? ", big-endian" : ""));
}

absl::StatusOr<Header> ReadHeader(GgufReader& reader) {
  reader.set_subject("header");
  Header header;
  FORERUN_ASSIGN_OR_RETURN(header.version, ReadVersion(reader));
  FORERUN_ASSIGN_OR_RETURN(header.num_tensors, reader.Read<uint64_t>("the number of tensors"));
  FORERUN_ASSIGN_OR_RETURN(header.num_keys, reader.Read<uint64_t>("the number of keys"));
  const uint64_t left = reader.remaining();
  if (header.num_tensors > left / kMinTensorBytes) {
    return reader.Error(
        8, absl::StrCat("at most ", left / kMinTensorBytes, " tensors (what the file has room for)"),
        absl::StrCat(header.num_tensors));
  }
  if (header.num_keys > left / kMinKeyBytes) {
    return reader.Error(16,
                        absl::StrCat("at most ", left / kMinKeyBytes, " keys (what the file has room for)"),
                        absl::StrCat(header.num_keys));
  }
  return header;
}

}  // namespace

int64_t GgufTensor::rows() const {
  int64_t rows = 1;
  for (size_t i = 1; i < shape.size(); ++i) rows *= shape[i];
  return rows;
}

struct GgufFile::Contents {
  std::string path;
  std::string display_path;           // fit for one line
  std::optional<MappedFile> mapping;  // none where the bytes are somebody else's
  std::span<const std::byte> bytes;
  uint32_t version = 0;
  GgufMetadata metadata;
  GgufTensorTable table;

  absl::Status Parse();
  GgufReader Reader(std::string subject) const;
  absl::StatusOr<GgufValue> Find(absl::string_view key) const;
};

absl::Status GgufFile::Contents::Parse() {
  GgufReader reader = Reader("header");
  FORERUN_ASSIGN_OR_RETURN(const Header header, ReadHeader(reader));
  version = header.version;
  FORERUN_ASSIGN_OR_RETURN(metadata, ReadMetadata(reader, header.num_keys));
  FORERUN_RETURN_IF_ERROR(CheckSingleFile(reader, metadata));
  FORERUN_ASSIGN_OR_RETURN(const uint32_t alignment, ReadAlignment(reader, metadata));
  FORERUN_ASSIGN_OR_RETURN(table, ReadTensors(reader, header.num_tensors, alignment));
  return absl::OkStatus();
}

GgufReader GgufFile::Contents::Reader(std::string subject) const {
  GgufReader reader(display_path, bytes);
  reader.set_subject(std::move(subject));
  return reader;
}

absl::StatusOr<GgufValue> GgufFile::Contents::Find(absl::string_view key) const {
  const auto found = metadata.find(key);
  if (found != metadata.end()) return found->second;
  return absl::NotFoundError(
      absl::StrCat(display_path, ": ", KeySubject(key), ": expected in the file, found no such key"));
}

GgufFile::GgufFile(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
GgufFile::GgufFile(GgufFile&&) noexcept = default;
GgufFile& GgufFile::operator=(GgufFile&&) noexcept = default;
GgufFile::~GgufFile() = default;

absl::StatusOr<GgufFile> GgufFile::Open(absl::string_view path) {
  FORERUN_ASSIGN_OR_RETURN(MappedFile mapping, MappedFile::Open(path));
  auto contents = std::make_unique<Contents>();
  contents->path = std::string(path);
  contents->display_path = absl::Utf8SafeCHexEscape(path);
  contents->bytes = mapping.bytes();
  contents->mapping = std::move(mapping);
  FORERUN_RETURN_IF_ERROR(contents->Parse());
  return GgufFile(std::move(contents));
}

absl::StatusOr<GgufFile> GgufFile::FromBytes(absl::string_view name, std::span<const std::byte> bytes) {
  auto contents = std::make_unique<Contents>();
  contents->path = std::string(name);
  contents->display_path = absl::Utf8SafeCHexEscape(name);
  contents->bytes = bytes;
  FORERUN_RETURN_IF_ERROR(contents->Parse());
  return GgufFile(std::move(contents));
}

const std::string& GgufFile::path() const { return contents_->path; }
uint32_t GgufFile::version() const { return contents_->version; }
std::size_t GgufFile::file_bytes() const { return contents_->bytes.size(); }
bool GgufFile::Has(absl::string_view key) const { return contents_->metadata.contains(key); }

absl::StatusOr<uint32_t> GgufFile::GetU32(absl::string_view key) const {
  FORERUN_ASSIGN_OR_RETURN(const GgufValue value, contents_->Find(key));
  return DecodeU32(contents_->Reader(KeySubject(key)), value);
}

absl::StatusOr<float> GgufFile::GetF32(absl::string_view key) const {
  FORERUN_ASSIGN_OR_RETURN(const GgufValue value, contents_->Find(key));
  return DecodeF32(contents_->Reader(KeySubject(key)), value);
}

absl::StatusOr<bool> GgufFile::GetBool(absl::string_view key) const {
  FORERUN_ASSIGN_OR_RETURN(const GgufValue value, contents_->Find(key));
  return DecodeBool(contents_->Reader(KeySubject(key)), value);
}

absl::StatusOr<std::string> GgufFile::GetString(absl::string_view key) const {
  FORERUN_ASSIGN_OR_RETURN(const GgufValue value, contents_->Find(key));
  FORERUN_ASSIGN_OR_RETURN(const absl::string_view text,
                           DecodeString(contents_->Reader(KeySubject(key)), value));
  return std::string(text);
}

absl::StatusOr<std::vector<absl::string_view>> GgufFile::GetStrings(absl::string_view key) const {
  FORERUN_ASSIGN_OR_RETURN(const GgufValue value, contents_->Find(key));
  return DecodeStrings(contents_->Reader(KeySubject(key)), value);
}

absl::StatusOr<std::vector<float>> GgufFile::GetFloats(absl::string_view key) const {
  FORERUN_ASSIGN_OR_RETURN(const GgufValue value, contents_->Find(key));
  return DecodeFloats(contents_->Reader(KeySubject(key)), value);
}

absl::StatusOr<std::vector<int32_t>> GgufFile::GetInts(absl::string_view key) const {
  FORERUN_ASSIGN_OR_RETURN(const GgufValue value, contents_->Find(key));
  return DecodeInts(contents_->Reader(KeySubject(key)), value);
}

absl::StatusOr<uint32_t> GgufFile::GetU32Or(absl::string_view key, uint32_t otherwise) const {
  return Has(key) ? GetU32(key) : otherwise;
}

absl::StatusOr<float> GgufFile::GetF32Or(absl::string_view key, float otherwise) const {
  return Has(key) ? GetF32(key) : otherwise;
}

absl::StatusOr<bool> GgufFile::GetBoolOr(absl::string_view key, bool otherwise) const {
  return Has(key) ? GetBool(key) : otherwise;
}

const std::vector<GgufTensor>& GgufFile::tensors() const { return contents_->table.tensors; }

const GgufTensor* GgufFile::FindTensor(absl::string_view name) const {
  const auto found = contents_->table.index.find(name);
  return found == contents_->table.index.end() ? nullptr : &contents_->table.tensors[found->second];
}

absl::StatusOr<const GgufTensor*> GgufFile::Tensor(absl::string_view name, std::vector<int64_t> shape) const {
  const GgufTensor* tensor = FindTensor(name);
  if (tensor == nullptr) {
    return absl::NotFoundError(absl::StrCat(contents_->display_path, ": ", TensorSubject(name),
                                            ": expected shape ", ShapeText(shape), ", found no such tensor"));
  }
  if (tensor->shape != shape) {
    return contents_->Reader(TensorSubject(name))
        .Error(tensor->data.data() - contents_->bytes.data(), absl::StrCat("shape ", ShapeText(shape)),
               ShapeText(tensor->shape));
  }
  return tensor;
}

void GgufFile::Release(std::span<const std::byte> bytes) const {
  if (contents_->mapping.has_value()) contents_->mapping->Release(bytes);
}

absl::Status GgufFile::CheckUnchanged() const {
  return contents_->mapping.has_value() ? contents_->mapping->CheckUnchanged() : absl::OkStatus();
}

absl::Status GgufFile::CheckFinite() const {
  for (const GgufTensor& tensor : tensors()) {
    GgufReader reader = contents_->Reader(TensorSubject(tensor.name));
    FORERUN_RETURN_IF_ERROR(CheckTensorFinite(reader, tensor));
  }
  const GgufTensor* head = FindTensor("output.weight");
  if (head == nullptr) head = FindTensor("token_embd.weight");
  if (head == nullptr || !IsAllZero(*head)) return absl::OkStatus();
  return contents_->Reader(TensorSubject(head->name))
      .Error(head->data.data() - contents_->bytes.data(), "an output head with weights", "only zeros");
}

}  // namespace forerun
