// The key-value section of a GGUF file.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/formats/gguf_reader.h"
#include "core/formats/gguf_values.h"

namespace forerun {

using GgufMetadata = absl::flat_hash_map<std::string, GgufValue>;

inline constexpr uint32_t kDefaultGgufAlignment = 32;

// Reads `num_keys` pairs: every key a name and used once, every value well-formed.
absl::StatusOr<GgufMetadata> ReadMetadata(GgufReader& reader, uint64_t num_keys);
// `general.alignment`: u32, a power of two from 8 to 1 MiB.
absl::StatusOr<uint32_t> ReadAlignment(GgufReader reader, const GgufMetadata& metadata);
// An error where the file is one part of several.
absl::Status CheckSingleFile(GgufReader reader, const GgufMetadata& metadata);

std::string KeySubject(absl::string_view key);  // "key 'general.name'", for messages

}  // namespace forerun
