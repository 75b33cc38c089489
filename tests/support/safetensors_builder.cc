#include "tests/support/safetensors_builder.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/formats/tensor_type.h"
#include "tests/support/gguf_builder.h"

namespace forerun {

std::string SafetensorsBytes(absl::string_view header, absl::string_view data, int64_t length) {
  return absl::StrCat(Packed<uint64_t>(length < 0 ? header.size() : length), header, data);
}

SafetensorsBuilder& SafetensorsBuilder::Tensor(absl::string_view name, SafetensorsType type,
                                               const std::vector<int64_t>& shape, absl::string_view data) {
  absl::StrAppend(&members_, members_.empty() ? "" : ", ", "\"", name, "\": {\"dtype\": \"",
                  SafetensorsTypeName(type), "\", \"shape\": [", absl::StrJoin(shape, ", "),
                  "], \"data_offsets\": [", data_.size(), ", ", data_.size() + data.size(), "]}");
  absl::StrAppend(&data_, data);
  return *this;
}

SafetensorsBuilder& SafetensorsBuilder::Floats(absl::string_view name, const std::vector<int64_t>& shape,
                                               const std::vector<float>& values, SafetensorsType type) {
  std::string data;
  for (const float value : values) {
    if (type == SafetensorsType::kF32) data += Packed(value);
    if (type == SafetensorsType::kF16) data += Packed(FloatToHalf(value));
    if (type == SafetensorsType::kBF16) {
      data += Packed(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
    }
  }
  return Tensor(name, type, shape, data);
}

SafetensorsBuilder& SafetensorsBuilder::Integers(absl::string_view name, const std::vector<int64_t>& values) {
  std::string data;
  for (const int64_t value : values) data += Packed(value);
  return Tensor(name, SafetensorsType::kI64, {static_cast<int64_t>(values.size())}, data);
}

std::string SafetensorsBuilder::Build() const {
  std::string header = absl::StrCat("{", members_, "}");
  header.append((8 - header.size() % 8) % 8, ' ');  // as the reference implementation pads it
  return SafetensorsBytes(header, data_);
}

}  // namespace forerun
