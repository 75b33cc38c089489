// One table of value types; scanning checks a value without keeping any of it.
#include "core/formats/gguf_values.h"

#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace forerun {
namespace {

struct ValueTypeInfo {
  const char* name;
  uint64_t bytes;  // the least that one value takes in the file
};
// By GgufValueType.
constexpr ValueTypeInfo kValueTypes[] = {{"u8", 1},  {"i8", 1},  {"u16", 2},  {"i16", 2},    {"u32", 4},
                                         {"i32", 4}, {"f32", 4}, {"bool", 1}, {"string", 8}, {"array", 12},
                                         {"u64", 8}, {"i64", 8}, {"f64", 8}};

const ValueTypeInfo& InfoOf(GgufValueType type) { return kValueTypes[static_cast<uint32_t>(type)]; }

absl::StatusOr<GgufValueType> ReadType(GgufReader& reader) {
  const uint64_t start = reader.position();
  FORERUN_ASSIGN_OR_RETURN(const uint32_t id, reader.Read<uint32_t>("the value type"));
  if (id >= std::size(kValueTypes)) return reader.Error(start, "a value type from 0 to 12", absl::StrCat(id));
  return static_cast<GgufValueType>(id);
}

absl::Status CheckElements(GgufReader& reader, const GgufValue& value) {
  if (value.type == GgufValueType::kString) {
    for (uint64_t i = 0; i < value.count; ++i) {
      FORERUN_RETURN_IF_ERROR(reader.ReadString("a string").status());
    }
    return absl::OkStatus();
  }
  if (value.type == GgufValueType::kBool) {
    for (uint64_t i = 0; i < value.count; ++i) {
      const uint64_t start = reader.position();
      FORERUN_ASSIGN_OR_RETURN(const uint8_t flag, reader.Read<uint8_t>("a bool"));
      if (flag > 1) return reader.Error(start, "a bool of 0 or 1", absl::StrCat(flag));
    }
    return absl::OkStatus();
  }
  return reader.Skip(value.count * InfoOf(value.type).bytes, InfoOf(value.type).name);
}

absl::Status WrongType(const GgufReader& reader, const GgufValue& value, absl::string_view expected) {
  return reader.Error(value.offset, expected, Describe(value));
}

bool Is(const GgufValue& value, GgufValueType type, bool is_array) {
  return value.type == type && value.is_array == is_array;
}

template <typename Stored, typename Wanted>
absl::StatusOr<Wanted> ReadInteger(GgufReader& reader) {
  const uint64_t start = reader.position();
  FORERUN_ASSIGN_OR_RETURN(const Stored stored, reader.Read<Stored>("an integer"));
  if (!std::in_range<Wanted>(stored)) {
    constexpr auto kLimits = std::numeric_limits<Wanted>();
    return reader.Error(start, absl::StrCat("an integer from ", kLimits.min(), " to ", kLimits.max()),
                        absl::StrCat(+stored));
  }
  return static_cast<Wanted>(stored);
}

}  // namespace

absl::StatusOr<GgufValue> ScanValue(GgufReader& reader) {
  GgufValue value;
  FORERUN_ASSIGN_OR_RETURN(value.type, ReadType(reader));
  if (value.type == GgufValueType::kArray) {
    const uint64_t start = reader.position();
    FORERUN_ASSIGN_OR_RETURN(value.type, ReadType(reader));
    if (value.type == GgufValueType::kArray) {
      return reader.Error(start, "an array of scalars or strings", "an array of arrays");
    }
    value.is_array = true;
    FORERUN_ASSIGN_OR_RETURN(value.count, reader.Read<uint64_t>("the array length"));
    const uint64_t most = reader.remaining() / InfoOf(value.type).bytes;
    if (value.count > most) {
      return reader.Error(reader.position() - 8,
                          absl::StrCat("an array of at most ", most, " ", InfoOf(value.type).name),
                          absl::StrCat("a length of ", value.count));
    }
  }
  value.offset = reader.position();
  FORERUN_RETURN_IF_ERROR(CheckElements(reader, value));
  return value;
}

absl::StatusOr<uint32_t> DecodeU32(GgufReader reader, const GgufValue& value) {
  reader.Seek(value.offset);
  if (!value.is_array) {
    switch (value.type) {
      case GgufValueType::kU8:
        return ReadInteger<uint8_t, uint32_t>(reader);
      case GgufValueType::kI8:
        return ReadInteger<int8_t, uint32_t>(reader);
      case GgufValueType::kU16:
        return ReadInteger<uint16_t, uint32_t>(reader);
      case GgufValueType::kI16:
        return ReadInteger<int16_t, uint32_t>(reader);
      case GgufValueType::kU32:
        return ReadInteger<uint32_t, uint32_t>(reader);
      case GgufValueType::kI32:
        return ReadInteger<int32_t, uint32_t>(reader);
      case GgufValueType::kU64:
        return ReadInteger<uint64_t, uint32_t>(reader);
      case GgufValueType::kI64:
        return ReadInteger<int64_t, uint32_t>(reader);
      default:
        break;
    }
  }
  return WrongType(reader, value, "an integer");
}

absl::StatusOr<float> DecodeF32(GgufReader reader, const GgufValue& value) {
  if (!Is(value, GgufValueType::kF32, false)) return WrongType(reader, value, "f32");
  reader.Seek(value.offset);
  return reader.Read<float>("f32");
}

absl::StatusOr<bool> DecodeBool(GgufReader reader, const GgufValue& value) {
  if (!Is(value, GgufValueType::kBool, false)) return WrongType(reader, value, "bool");
  reader.Seek(value.offset);
  FORERUN_ASSIGN_OR_RETURN(const uint8_t flag, reader.Read<uint8_t>("bool"));
  return flag != 0;
}

absl::StatusOr<absl::string_view> DecodeString(GgufReader reader, const GgufValue& value) {
  if (!Is(value, GgufValueType::kString, false)) return WrongType(reader, value, "string");
  reader.Seek(value.offset);
  return reader.ReadString("string");
}

absl::StatusOr<std::vector<absl::string_view>> DecodeStrings(GgufReader reader, const GgufValue& value) {
  if (!Is(value, GgufValueType::kString, true)) return WrongType(reader, value, "array of string");
  reader.Seek(value.offset);
  std::vector<absl::string_view> strings(value.count);
  for (absl::string_view& string : strings) {
    FORERUN_ASSIGN_OR_RETURN(string, reader.ReadString("a string"));
  }
  return strings;
}

absl::StatusOr<std::vector<float>> DecodeFloats(GgufReader reader, const GgufValue& value) {
  if (!Is(value, GgufValueType::kF32, true)) return WrongType(reader, value, "array of f32");
  reader.Seek(value.offset);
  std::vector<float> floats(value.count);
  for (float& number : floats) {
    FORERUN_ASSIGN_OR_RETURN(number, reader.Read<float>("f32"));
  }
  return floats;
}

absl::StatusOr<std::vector<int32_t>> DecodeInts(GgufReader reader, const GgufValue& value) {
  const bool is_signed = Is(value, GgufValueType::kI32, true);
  if (!is_signed && !Is(value, GgufValueType::kU32, true))
    return WrongType(reader, value, "array of i32 or u32");
  reader.Seek(value.offset);
  std::vector<int32_t> ints(value.count);
  for (int32_t& number : ints) {
    auto read = is_signed ? ReadInteger<int32_t, int32_t>(reader) : ReadInteger<uint32_t, int32_t>(reader);
    FORERUN_ASSIGN_OR_RETURN(number, std::move(read));
  }
  return ints;
}

std::string Describe(const GgufValue& value) {
  if (!value.is_array) return InfoOf(value.type).name;
  return absl::StrCat("array of ", value.count, " ", InfoOf(value.type).name);
}

}  // namespace forerun
