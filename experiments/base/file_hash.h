// SHA-256 of texts and files. Hashes of large files are remembered by path, size and time of change in
// ${FORERUN_CACHE:-~/.cache/forerun}/hashes.json; a cache that cannot be written costs time, nothing else.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace forerun {

// 64 lower-case hex digits.
std::string Sha256Hex(absl::string_view bytes);
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);
absl::StatusOr<std::string> CachedSha256OfFile(const std::string& path);

}  // namespace forerun
