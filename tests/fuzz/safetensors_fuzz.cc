// libFuzzer: any bytes opened as a safetensors file, then every tensor read in every way.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/formats/safetensors_file.h"

namespace {

// Keeps a result alive in the eyes of the optimiser.
volatile size_t sink;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file =
      forerun::SafetensorsFile::FromBytes("fuzz", std::as_bytes(std::span<const uint8_t>(data, size)));
  if (!file.ok()) return 0;
  size_t bytes = 0;
  for (const forerun::SafetensorsTensor& tensor : file->tensors()) {
    if (file->FindTensor(tensor.name) != &tensor || !file->CheckShape(tensor, tensor.shape).ok())
      __builtin_trap();
    bytes += tensor.data.size();
    const auto floats = file->Floats(tensor);
    const auto integers = file->Integers(tensor);
    if (floats.ok() && floats->size() != static_cast<size_t>(tensor.elements())) __builtin_trap();
    sink = floats.ok() + integers.ok();
  }
  if (bytes > size) __builtin_trap();
  return 0;
}
