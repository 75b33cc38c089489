// Collects keys and tensor entries; Build lays them out as a writer would, except where told to lie.
#include "tests/support/gguf_builder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/formats/gguf_values.h"

namespace forerun {
namespace {

constexpr auto Id(GgufValueType type) { return static_cast<uint32_t>(type); }

std::string ArrayHead(GgufValueType element, uint64_t count) {
  return absl::StrCat(Packed(Id(element)), Packed(count));
}

template <typename T>
std::string PackedArray(GgufValueType element, const std::vector<T>& values) {
  std::string bytes = ArrayHead(element, values.size());
  for (const T& value : values) bytes += Packed(value);
  return bytes;
}

void Pad(std::string& bytes, uint64_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
}

}  // namespace

GgufBuilder& GgufBuilder::Value(absl::string_view key, uint32_t type, absl::string_view bytes) {
  absl::StrAppend(&keys_, PackedString(key), Packed(type), bytes);
  ++num_keys_;
  return *this;
}

GgufBuilder& GgufBuilder::U32(absl::string_view key, uint32_t value) {
  return Value(key, Id(GgufValueType::kU32), Packed(value));
}

GgufBuilder& GgufBuilder::F32(absl::string_view key, float value) {
  return Value(key, Id(GgufValueType::kF32), Packed(value));
}

GgufBuilder& GgufBuilder::Bool(absl::string_view key, bool value) {
  return Value(key, Id(GgufValueType::kBool), Packed<uint8_t>(value ? 1 : 0));
}

GgufBuilder& GgufBuilder::String(absl::string_view key, absl::string_view value) {
  return Value(key, Id(GgufValueType::kString), PackedString(value));
}

GgufBuilder& GgufBuilder::Strings(absl::string_view key, const std::vector<std::string>& values) {
  std::string bytes = ArrayHead(GgufValueType::kString, values.size());
  for (const std::string& value : values) bytes += PackedString(value);
  return Value(key, Id(GgufValueType::kArray), bytes);
}

GgufBuilder& GgufBuilder::Floats(absl::string_view key, const std::vector<float>& values) {
  return Value(key, Id(GgufValueType::kArray), PackedArray(GgufValueType::kF32, values));
}

GgufBuilder& GgufBuilder::Ints(absl::string_view key, const std::vector<int32_t>& values) {
  return Value(key, Id(GgufValueType::kArray), PackedArray(GgufValueType::kI32, values));
}

GgufBuilder& GgufBuilder::Tensor(absl::string_view name, const std::vector<int64_t>& shape,
                                 const std::vector<float>& values) {
  std::string data(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return Tensor(name, shape, TensorType::kF32, std::move(data));
}

GgufBuilder& GgufBuilder::Tensor(absl::string_view name, const std::vector<int64_t>& shape, TensorType type,
                                 std::string data) {
  return Tensor({.name = std::string(name),
                 .shape = {shape.begin(), shape.end()},
                 .type = static_cast<uint32_t>(type),
                 .data = std::move(data)});
}

GgufBuilder& GgufBuilder::Tensor(GgufEntry entry) {
  entries_.push_back(std::move(entry));
  return *this;
}

std::string GgufBuilder::Build(const GgufFrame& frame) const {
  std::string table;
  std::string data;
  for (const GgufEntry& entry : entries_) {
    Pad(data, frame.alignment);
    absl::StrAppend(&table, PackedString(entry.name),
                    Packed(entry.num_dimensions.value_or(static_cast<uint32_t>(entry.shape.size()))));
    for (const uint64_t size : entry.shape) table += Packed(size);
    absl::StrAppend(&table, Packed(entry.type), Packed(entry.offset.value_or(data.size())));
    data += entry.data;
  }
  std::string bytes = absl::StrCat(frame.magic, Packed(frame.version),
                                   Packed<uint64_t>(frame.num_tensors.value_or(entries_.size())),
                                   Packed(frame.num_keys.value_or(num_keys_)), keys_, table);
  Pad(bytes, frame.alignment);
  bytes += data;
  if (frame.trailer.empty()) Pad(bytes, frame.alignment);
  return bytes + frame.trailer;
}

std::string PackedString(absl::string_view text) { return absl::StrCat(Packed<uint64_t>(text.size()), text); }

std::span<const std::byte> AsBytes(const std::string& bytes) {
  return std::as_bytes(std::span<const char>(bytes.data(), bytes.size()));
}

std::string WriteTemporaryFile(absl::string_view name, absl::string_view bytes) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", getpid(), "-", name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace forerun
