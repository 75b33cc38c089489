// libFuzzer: any bytes opened as a GGUF file, then every getter on every key that models use and every tensor
// read.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/formats/gguf_file.h"

namespace {

using forerun::GgufFile;
using forerun::GgufTensor;

constexpr const char* kKeys[] = {"general.architecture", "general.alignment", "a", "b", "k", "s"};

// Keeps a result alive in the eyes of the optimiser and reads what a view points at.
volatile size_t sink;

void ReadKey(const GgufFile& file, absl::string_view key) {
  sink = file.GetU32(key).ok() + file.GetF32Or(key, 1).ok() + file.GetBoolOr(key, true).ok();
  if (const auto text = file.GetString(key); text.ok()) sink = text->size();
  if (const auto floats = file.GetFloats(key); floats.ok()) sink = floats->size();
  if (const auto ints = file.GetInts(key); ints.ok()) sink = ints->size();
  const auto strings = file.GetStrings(key);
  if (!strings.ok()) return;
  for (const absl::string_view string : *strings) sink = string.empty() ? 0 : string.back();
}

void ReadTensor(const GgufFile& file, const GgufTensor& tensor) {
  if (file.FindTensor(tensor.name) != &tensor || !file.Tensor(tensor.name, tensor.shape).ok())
    __builtin_trap();
  const size_t row_bytes = forerun::RowBytes(tensor.type, tensor.columns());
  if (row_bytes * static_cast<size_t>(tensor.rows()) != tensor.data.size()) __builtin_trap();
  std::vector<float> row(static_cast<size_t>(tensor.columns()));
  forerun::DequantizeRow(tensor.type, tensor.data.data() + tensor.data.size() - row_bytes, tensor.columns(),
                         row.data());
  sink = row.back() > 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = GgufFile::FromBytes("fuzz.gguf", std::as_bytes(std::span<const uint8_t>(data, size)));
  if (!file.ok()) return 0;
  for (const char* key : kKeys) ReadKey(*file, key);
  for (const GgufTensor& tensor : file->tensors()) ReadTensor(*file, tensor);
  sink = file->CheckFinite().ok();
  return 0;
}
