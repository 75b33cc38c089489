#include "core/formats/safetensors_header.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "core/formats/gguf_reader.h"
#include "core/formats/gguf_tensors.h"

namespace forerun {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMostHeaderBytes = 100'000'000;  // what the reference implementation takes
constexpr char kTypeNames[] = "F32, F16, BF16, I64, I32 or BOOL";

struct TypeInfo {
  SafetensorsType type;
  const char* name;
  std::size_t bytes;
};
constexpr TypeInfo kTypes[] = {{SafetensorsType::kF32, "F32", 4},   {SafetensorsType::kF16, "F16", 2},
                               {SafetensorsType::kBF16, "BF16", 2}, {SafetensorsType::kI64, "I64", 8},
                               {SafetensorsType::kI32, "I32", 4},   {SafetensorsType::kBool, "BOOL", 1}};

const TypeInfo& Info(SafetensorsType type) { return kTypes[static_cast<int>(type)]; }

// A value in a message: short, on one line.
std::string Shown(const Json& value) { return Quoted(DumpJson(value)); }

class HeaderReader {
 public:
  HeaderReader(absl::string_view file, std::span<const std::byte> bytes) : file_(file), bytes_(bytes) {}

  absl::StatusOr<std::vector<SafetensorsTensor>> Read() {
    FORERUN_ASSIGN_OR_RETURN(const Json header, ReadJson());
    std::vector<std::pair<uint64_t, SafetensorsTensor>> placed;  // by where the data begins
    for (const auto& member : header.items()) {
      if (member.key() == "__metadata__") {
        FORERUN_RETURN_IF_ERROR(CheckMetadata(member.value()));
        continue;
      }
      subject_ = TensorSubject(member.key());
      FORERUN_ASSIGN_OR_RETURN(auto entry, ReadEntry(member.value()));
      entry.second.name = member.key();
      placed.push_back(std::move(entry));
    }
    std::stable_sort(placed.begin(), placed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return Covering(std::move(placed));
  }

 private:
  absl::Status Error(uint64_t offset, absl::string_view expected, absl::string_view found) const {
    return SafetensorsError(file_, subject_, offset, expected, found);
  }
  absl::Status HeaderError(absl::string_view expected, absl::string_view found) const {
    return Error(kLengthBytes, expected, found);
  }

  absl::StatusOr<Json> ReadJson() {
    if (bytes_.size() < kLengthBytes) {
      return Error(0, "8 bytes with the header's length", absl::StrCat("a file of ", bytes_.size()));
    }
    uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    const uint64_t most = std::min<uint64_t>(bytes_.size() - kLengthBytes, kMostHeaderBytes);
    if (length > most)
      return Error(0, absl::StrCat("a header of at most ", most, " bytes"), absl::StrCat(length));
    const absl::string_view text(reinterpret_cast<const char*>(bytes_.data()) + kLengthBytes, length);
    data_ = kLengthBytes + length;
    if (text.empty() || text[0] != '{') return HeaderError("a JSON object", Quoted(text.substr(0, 8)));
    absl::StatusOr<Json> json = ParseJson(text, "JSON");
    if (!json.ok()) return HeaderError("JSON", Quoted(json.status().message()));
    return json;
  }

  absl::Status CheckMetadata(const Json& metadata) const {
    const bool good =
        metadata.is_object() &&
        std::all_of(metadata.begin(), metadata.end(), [](const Json& value) { return value.is_string(); });
    return good ? absl::OkStatus() : HeaderError("__metadata__ of strings", Shown(metadata));
  }

  absl::StatusOr<std::pair<uint64_t, SafetensorsTensor>> ReadEntry(const Json& entry) const {
    constexpr char kMembers[] = "an object of dtype, shape and data_offsets";
    if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets")) {
      return HeaderError(kMembers, Shown(entry));
    }
    SafetensorsTensor tensor;
    const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeInfo& info) { return entry["dtype"] == info.name; });
    if (type == std::end(kTypes)) {
      return HeaderError(absl::StrCat("a dtype of ", kTypeNames), Shown(entry["dtype"]));
    }
    tensor.type = type->type;
    FORERUN_ASSIGN_OR_RETURN(const uint64_t bytes, ReadShape(entry["shape"], tensor));
    const Json& offsets = entry["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      return HeaderError("data_offsets of two integers", Shown(offsets));
    }
    const uint64_t begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
    const uint64_t left = bytes_.size() - data_;
    if (begin > end || end > left) {
      return HeaderError(absl::StrCat("data_offsets that ascend and end within the ", left, " bytes of data"),
                         Shown(offsets));
    }
    if (end - begin != bytes) {
      return Error(data_ + begin, absl::StrCat(bytes, " bytes, as shape and dtype say"),
                   absl::StrCat(end - begin));
    }
    tensor.data = bytes_.subspan(data_ + begin, bytes);
    return std::make_pair(begin, std::move(tensor));
  }

  // Fills the shape and returns the bytes that it stands for.
  absl::StatusOr<uint64_t> ReadShape(const Json& shape, SafetensorsTensor& tensor) const {
    if (!shape.is_array()) return HeaderError("a shape of integers", Shown(shape));
    int64_t bytes = static_cast<int64_t>(Info(tensor.type).bytes);
    for (const Json& size : shape) {
      if (!size.is_number_unsigned() || size.get<uint64_t>() == 0) {
        return HeaderError("a shape of integers from 1 on", Shown(shape));
      }
      if (__builtin_mul_overflow(bytes, size.get<uint64_t>(), &bytes)) {
        return HeaderError("a shape of fewer than 2^63 bytes", Shown(shape));
      }
      tensor.shape.push_back(static_cast<int64_t>(size.get<uint64_t>()));
    }
    return static_cast<uint64_t>(bytes);
  }

  absl::StatusOr<std::vector<SafetensorsTensor>> Covering(
      std::vector<std::pair<uint64_t, SafetensorsTensor>> placed) {
    std::vector<SafetensorsTensor> tensors;
    uint64_t end = 0;
    for (auto& [begin, tensor] : placed) {
      if (begin != end) {
        subject_ = TensorSubject(tensor.name);
        return Error(data_ + begin, absl::StrCat("data from ", end, " on, where the tensor before it ends"),
                     absl::StrCat(begin));
      }
      end = begin + tensor.data.size();
      tensors.push_back(std::move(tensor));
    }
    subject_ = "end of data";
    if (data_ + end != bytes_.size()) {
      return Error(data_ + end, "the end of the file",
                   absl::StrCat(bytes_.size() - data_ - end, " more bytes"));
    }
    return tensors;
  }

  absl::string_view file_;
  std::span<const std::byte> bytes_;
  std::string subject_ = "header";
  uint64_t data_ = 0;  // where the data begins
};

}  // namespace

const char* SafetensorsTypeName(SafetensorsType type) { return Info(type).name; }
std::size_t SafetensorsTypeBytes(SafetensorsType type) { return Info(type).bytes; }

absl::Status SafetensorsError(absl::string_view file, absl::string_view subject, uint64_t offset,
                              absl::string_view expected, absl::string_view found) {
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": ", subject, " at offset ", offset, ": expected ", expected, ", found ", found));
}

absl::StatusOr<std::vector<SafetensorsTensor>> ReadSafetensorsHeader(absl::string_view file,
                                                                     std::span<const std::byte> bytes) {
  return HeaderReader(file, bytes).Read();
}

}  // namespace forerun
