// The values of GGUF metadata: checked once, where they stand in the file, and decoded when asked for.
// Decoding is bounded again, so that even a file changed behind our back cannot lead it outside the mapping.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/formats/gguf_reader.h"

namespace forerun {

// The values are GGUF's own ids.
enum class GgufValueType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

struct GgufValue {
  GgufValueType type = GgufValueType::kU8;  // of an array: the type of its elements
  bool is_array = false;
  uint64_t count = 1;   // elements
  uint64_t offset = 0;  // of the first element
};

// Reads a value's type, checks the value and leaves the reader behind it.
absl::StatusOr<GgufValue> ScanValue(GgufReader& reader);

// For each: an error where the value has another type. `reader` is positioned by the callee.
absl::StatusOr<uint32_t> DecodeU32(GgufReader reader, const GgufValue& value);
absl::StatusOr<float> DecodeF32(GgufReader reader, const GgufValue& value);
absl::StatusOr<bool> DecodeBool(GgufReader reader, const GgufValue& value);
absl::StatusOr<absl::string_view> DecodeString(GgufReader reader, const GgufValue& value);
absl::StatusOr<std::vector<absl::string_view>> DecodeStrings(GgufReader reader, const GgufValue& value);
absl::StatusOr<std::vector<float>> DecodeFloats(GgufReader reader, const GgufValue& value);
absl::StatusOr<std::vector<int32_t>> DecodeInts(GgufReader reader, const GgufValue& value);

// "u32", "array of 3 string".
std::string Describe(const GgufValue& value);

}  // namespace forerun
