// Only scales are looked at in quantised blocks: their codes are integers.
#include "core/formats/gguf_finite.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "kernels/formats/blocks.h"

namespace forerun {
namespace {

// Where the halves that scale a block stand in it.
struct ScalePlaces {
  size_t first;
  size_t second;  // the minimum's; the same as the first where a type has none
};

ScalePlaces PlacesOf(TensorType type) {
  switch (type) {
    case TensorType::kQ4_1:
      return {offsetof(BlockQ4_1, d), offsetof(BlockQ4_1, m)};
    case TensorType::kQ5_1:
      return {offsetof(BlockQ5_1, d), offsetof(BlockQ5_1, m)};
    case TensorType::kQ2_K:
      return {offsetof(BlockQ2_K, d), offsetof(BlockQ2_K, dmin)};
    case TensorType::kQ3_K:
      return {offsetof(BlockQ3_K, d), offsetof(BlockQ3_K, d)};
    case TensorType::kQ4_K:
      return {offsetof(BlockQ4_K, d), offsetof(BlockQ4_K, dmin)};
    case TensorType::kQ5_K:
      return {offsetof(BlockQ5_K, d), offsetof(BlockQ5_K, dmin)};
    case TensorType::kQ6_K:
      return {offsetof(BlockQ6_K, d), offsetof(BlockQ6_K, d)};
    default:
      return {0, 0};
  }
}

template <typename Bits>
Bits Load(const std::byte* from) {
  Bits bits;
  std::memcpy(&bits, from, sizeof(Bits));
  return bits;
}

// The float at `from` of a block: a weight of a float type, a half-precision scale of any other.
float LoadScale(TensorType type, const std::byte* from) {
  if (type == TensorType::kF32) return Load<float>(from);
  float scale;
  const bool is_float = IsFloat(type);
  const auto half = Load<uint16_t>(from);
  DequantizeRow(is_float ? type : TensorType::kF16, &half, 1, &scale);
  return scale;
}

}  // namespace

absl::Status CheckTensorFinite(GgufReader& reader, const GgufTensor& tensor) {
  const size_t block_bytes = Info(tensor.type).block_bytes;
  const ScalePlaces places = PlacesOf(tensor.type);
  for (size_t block = 0; block < tensor.data.size(); block += block_bytes) {
    for (const size_t place : {places.first, places.second}) {
      const std::byte* from = tensor.data.data() + block + place;
      const float scale = LoadScale(tensor.type, from);
      if (std::isfinite(scale)) continue;
      return reader.Error(
          from - reader.bytes().data(), IsFloat(tensor.type) ? "a finite weight" : "a finite block scale",
          absl::StrCat(std::isnan(scale) ? "NaN" : "infinity", " in block ", block / block_bytes));
    }
  }
  return absl::OkStatus();
}

bool IsAllZero(const GgufTensor& tensor) {
  const size_t block_bytes = Info(tensor.type).block_bytes;
  const ScalePlaces places = PlacesOf(tensor.type);
  for (size_t block = 0; block < tensor.data.size(); block += block_bytes) {
    for (const size_t place : {places.first, places.second}) {
      if (LoadScale(tensor.type, tensor.data.data() + block + place) != 0) return false;
    }
  }
  return true;
}

}  // namespace forerun
