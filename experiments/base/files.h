// Files that must survive a crash or a full disk: append-only logs and files replaced as a whole. Every error
// is one line with the file's name and the system's reason.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace forerun {

// "<path>: <action>: <reason>": ResourceExhausted for a full disk or quota, PermissionDenied where it may not
// be written, NotFound for everything else.
absl::Status FileError(absl::string_view path, absl::string_view action, int error_number);

absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes beside `path`, syncs, renames: readers see the old text or the new, never a part.
absl::Status WriteFileAtomically(const std::string& path, absl::string_view text);

class AppendFile {
 public:
  // Creates it where missing.
  static absl::StatusOr<AppendFile> Open(const std::string& path);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  ~AppendFile();

  // False where another process holds the lock. It goes with the file.
  bool TryLock();
  absl::Status Append(absl::string_view text);
  absl::Status Sync();
  absl::Status Truncate(int64_t size);
  const std::string& path() const { return path_; }

 private:
  AppendFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace forerun
