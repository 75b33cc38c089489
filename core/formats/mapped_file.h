// A regular file mapped read-only. Opening never blocks and never creates; a file that shrinks while it is
// mapped ends the process with one line naming it (mapping_guard.h) instead of a bare bus error.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/formats/mapping_guard.h"

namespace forerun {

class MappedFile {
 public:
  static absl::StatusOr<MappedFile> Open(absl::string_view path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  // Whole pages inside `bytes`, a part of bytes(), stop counting as resident; they are read again when
  // touched.
  void Release(std::span<const std::byte> bytes) const;
  // DataLoss where the file has another length than when it was mapped.
  absl::Status CheckUnchanged() const;

 private:
  MappedFile() = default;

  std::string path_;
  int descriptor_ = -1;
  std::span<const std::byte> bytes_;
  MappingGuard* guard_ = nullptr;
};

}  // namespace forerun
