// The JSON header of a safetensors file, read strictly.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/formats/safetensors_file.h"

namespace forerun {

std::size_t SafetensorsTypeBytes(SafetensorsType type);

// "<file>: <subject> at offset <offset>: expected <expected>, found <found>".
absl::Status SafetensorsError(absl::string_view file, absl::string_view subject, uint64_t offset,
                              absl::string_view expected, absl::string_view found);

// All tensors of the file, in order of their data, which covers what follows the header without gap, overlap
// or rest.
absl::StatusOr<std::vector<SafetensorsTensor>> ReadSafetensorsHeader(absl::string_view file,
                                                                     std::span<const std::byte> bytes);

}  // namespace forerun
