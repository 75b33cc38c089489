// Two passes: the table, whose offsets must follow from the sizes, then the data, which must lie in the file.
#include "core/formats/gguf_tensors.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace forerun {
namespace {

constexpr uint64_t kMaxNameBytes = 63;
constexpr uint32_t kMaxDimensions = 4;

// Types of other programs, so that a user learns what a file holds.
const char* ForeignTypeName(uint32_t id) {
  static constexpr std::pair<uint32_t, const char*> kNames[] = {{4, "removed from the format"},
                                                                {5, "removed from the format"},
                                                                {9, "Q8_1"},
                                                                {15, "Q8_K"},
                                                                {16, "IQ2_XXS"},
                                                                {17, "IQ2_XS"},
                                                                {18, "IQ3_XXS"},
                                                                {19, "IQ1_S"},
                                                                {20, "IQ4_NL"},
                                                                {21, "IQ3_S"},
                                                                {22, "IQ2_S"},
                                                                {23, "IQ4_XS"},
                                                                {24, "I8"},
                                                                {25, "I16"},
                                                                {26, "I32"},
                                                                {27, "I64"},
                                                                {28, "F64"},
                                                                {29, "IQ1_M"},
                                                                {34, "TQ1_0"},
                                                                {35, "TQ2_0"},
                                                                {39, "MXFP4"}};
  for (const auto& [known, name] : kNames) {
    if (known == id) return name;
  }
  return "unknown";
}

absl::StatusOr<std::vector<int64_t>> ReadShape(GgufReader& reader) {
  const uint64_t start = reader.position();
  FORERUN_ASSIGN_OR_RETURN(const uint32_t dimensions, reader.Read<uint32_t>("the number of dimensions"));
  if (dimensions < 1 || dimensions > kMaxDimensions) {
    return reader.Error(start, absl::StrCat("1 to ", kMaxDimensions, " dimensions"),
                        absl::StrCat(dimensions));
  }
  std::vector<int64_t> shape(dimensions);
  int64_t elements = 1;
  for (int64_t& size : shape) {
    const uint64_t offset = reader.position();
    FORERUN_ASSIGN_OR_RETURN(size, reader.Read<int64_t>("a dimension"));
    if (size < 1) return reader.Error(offset, "a dimension of 1 or more", absl::StrCat(size));
    if (__builtin_mul_overflow(elements, size, &elements)) {
      return reader.Error(offset, "fewer than 2^63 elements",
                          absl::StrCat("a product beyond, at dimension ", size));
    }
  }
  return shape;
}

absl::StatusOr<TensorType> ReadTensorType(GgufReader& reader, int64_t columns) {
  const uint64_t start = reader.position();
  FORERUN_ASSIGN_OR_RETURN(const uint32_t id, reader.Read<uint32_t>("the tensor type"));
  const TensorTypeInfo* info = FindTensorType(id);
  if (info == nullptr) {
    return reader.Error(start,
                        "a tensor type of F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 or Q2_K to Q6_K",
                        absl::StrCat("id ", id, " (", ForeignTypeName(id), ")"));
  }
  if (columns % info->block_columns != 0) {
    return reader.Error(start,
                        absl::StrCat("a multiple of ", info->block_columns, " columns for ", info->name),
                        absl::StrCat(columns));
  }
  return info->type;
}

uint64_t PadTo(uint64_t size, uint64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

// Bytes of the tensor; an error where they are more than the file has.
absl::StatusOr<uint64_t> DataBytes(const GgufReader& reader, const GgufTensor& tensor) {
  const TensorTypeInfo& info = Info(tensor.type);
  uint64_t bytes = tensor.columns() / info.block_columns * tensor.rows();
  const bool overflow = __builtin_mul_overflow(bytes, static_cast<uint64_t>(info.block_bytes), &bytes);
  if (overflow || bytes > reader.bytes().size()) {
    return reader.Error(
        reader.position(),
        absl::StrCat("a tensor of at most ", reader.bytes().size(), " bytes, the file's size"),
        absl::StrCat("shape ", ShapeText(tensor.shape), " of ", info.name));
  }
  return bytes;
}

// One entry of the table. `offset`: where its data should be in the data section, moved behind it.
absl::StatusOr<std::pair<GgufTensor, uint64_t>> ReadEntry(GgufReader& reader, uint64_t alignment,
                                                          uint64_t& offset) {
  GgufTensor tensor;
  FORERUN_ASSIGN_OR_RETURN(const absl::string_view name, reader.ReadName("a tensor name", kMaxNameBytes));
  tensor.name = std::string(name);
  reader.set_subject(TensorSubject(name));
  FORERUN_ASSIGN_OR_RETURN(tensor.shape, ReadShape(reader));
  FORERUN_ASSIGN_OR_RETURN(tensor.type, ReadTensorType(reader, tensor.columns()));
  const uint64_t start = reader.position();
  FORERUN_ASSIGN_OR_RETURN(const uint64_t found, reader.Read<uint64_t>("the data offset"));
  if (found != offset) {
    return reader.Error(start, absl::StrCat("data offset ", offset, " (tensors back to back)"),
                        absl::StrCat(found));
  }
  FORERUN_ASSIGN_OR_RETURN(const uint64_t bytes, DataBytes(reader, tensor));
  if (offset > reader.bytes().size()) {
    return reader.Error(start, absl::StrCat("data within the ", reader.bytes().size(), " bytes of the file"),
                        absl::StrCat(offset));
  }
  offset = PadTo(offset + bytes, alignment);
  return std::make_pair(std::move(tensor), bytes);
}

// Whatever follows `end` must be zeros up to the next multiple of the alignment.
absl::Status CheckEnd(GgufReader& reader, uint64_t end, uint64_t alignment) {
  const std::span<const std::byte> bytes = reader.bytes();
  reader.set_subject("end of data");
  if (end >= bytes.size()) return absl::OkStatus();
  if (bytes.size() > PadTo(end, alignment)) {
    return reader.Error(end, absl::StrCat("padding to at most ", PadTo(end, alignment)),
                        absl::StrCat(bytes.size() - end, " more bytes"));
  }
  const auto tail = bytes.subspan(end);
  const auto stray = std::find_if(tail.begin(), tail.end(), [](std::byte b) { return b != std::byte{0}; });
  if (stray == tail.end()) return absl::OkStatus();
  return reader.Error(end + (stray - tail.begin()), "zero padding",
                      absl::StrCat("byte ", std::to_integer<int>(*stray)));
}

}  // namespace

std::string TensorSubject(absl::string_view name) { return absl::StrCat("tensor ", Quoted(name)); }

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

absl::StatusOr<GgufTensorTable> ReadTensors(GgufReader& reader, uint64_t num_tensors, uint64_t alignment) {
  GgufTensorTable table;
  std::vector<uint64_t> sizes;
  uint64_t offset = 0;
  for (uint64_t i = 0; i < num_tensors; ++i) {
    reader.set_subject(absl::StrCat("tensor ", i, " of ", num_tensors));
    const uint64_t start = reader.position();
    FORERUN_ASSIGN_OR_RETURN(auto entry, ReadEntry(reader, alignment, offset));
    if (!table.index.emplace(entry.first.name, i).second) {
      return reader.Error(start, "a tensor name used once", "the name a second time");
    }
    table.tensors.push_back(std::move(entry.first));
    sizes.push_back(entry.second);
  }
  uint64_t end = num_tensors == 0 ? reader.position() : PadTo(reader.position(), alignment);
  for (uint64_t i = 0; i < num_tensors; ++i) {
    GgufTensor& tensor = table.tensors[i];
    const uint64_t left = reader.bytes().size() - std::min<uint64_t>(end, reader.bytes().size());
    if (sizes[i] > left) {
      reader.set_subject(TensorSubject(tensor.name));
      return reader.Error(end, absl::StrCat(sizes[i], " bytes of data"),
                          absl::StrCat("only ", left, " left in the file"));
    }
    tensor.data = reader.bytes().subspan(end, sizes[i]);
    end += i + 1 < num_tensors ? PadTo(sizes[i], alignment) : sizes[i];
  }
  FORERUN_RETURN_IF_ERROR(CheckEnd(reader, end, alignment));
  return table;
}

}  // namespace forerun
