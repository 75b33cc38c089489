// Keys, and the few of them that say how to read the rest of the file.
#include "core/formats/gguf_metadata.h"

#include <bit>

#include "absl/strings/str_cat.h"

namespace forerun {
namespace {

constexpr uint64_t kMaxKeyBytes = 65535;
constexpr uint32_t kMinAlignment = 8;
constexpr uint32_t kMaxAlignment = 1 << 20;

}  // namespace

std::string KeySubject(absl::string_view key) { return absl::StrCat("key ", Quoted(key)); }

absl::StatusOr<GgufMetadata> ReadMetadata(GgufReader& reader, uint64_t num_keys) {
  GgufMetadata metadata;
  for (uint64_t i = 0; i < num_keys; ++i) {
    reader.set_subject(absl::StrCat("key ", i, " of ", num_keys));
    const uint64_t start = reader.position();
    FORERUN_ASSIGN_OR_RETURN(const absl::string_view key, reader.ReadName("a key", kMaxKeyBytes));
    reader.set_subject(KeySubject(key));
    FORERUN_ASSIGN_OR_RETURN(const GgufValue value, ScanValue(reader));
    if (!metadata.emplace(key, value).second)
      return reader.Error(start, "a key used once", "the key a second time");
  }
  return metadata;
}

absl::StatusOr<uint32_t> ReadAlignment(GgufReader reader, const GgufMetadata& metadata) {
  constexpr absl::string_view kKey = "general.alignment";
  const auto found = metadata.find(kKey);
  if (found == metadata.end()) return kDefaultGgufAlignment;
  const GgufValue& value = found->second;
  reader.set_subject(KeySubject(kKey));
  if (value.type != GgufValueType::kU32 || value.is_array)
    return reader.Error(value.offset, "u32", Describe(value));
  FORERUN_ASSIGN_OR_RETURN(const uint32_t alignment, DecodeU32(reader, value));
  if (!std::has_single_bit(alignment) || alignment < kMinAlignment || alignment > kMaxAlignment) {
    return reader.Error(value.offset,
                        absl::StrCat("a power of two from ", kMinAlignment, " to ", kMaxAlignment),
                        absl::StrCat(alignment));
  }
  return alignment;
}

absl::Status CheckSingleFile(GgufReader reader, const GgufMetadata& metadata) {
  for (const absl::string_view key : {"split.count", "split.no"}) {
    const auto found = metadata.find(key);
    if (found == metadata.end()) continue;
    reader.set_subject(KeySubject(key));
    FORERUN_ASSIGN_OR_RETURN(const uint32_t number, DecodeU32(reader, found->second));
    const bool is_count = key == "split.count";
    if (number > (is_count ? 1 : 0)) {
      return reader.Error(
          found->second.offset, "a model in one file (merge the parts with llama-gguf-split --merge)",
          is_count ? absl::StrCat("one of ", number, " parts") : absl::StrCat("part number ", number));
    }
  }
  return absl::OkStatus();
}

}  // namespace forerun
