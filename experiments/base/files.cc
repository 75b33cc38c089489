#include "experiments/base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

absl::Status WriteAll(int descriptor, const std::string& path, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError(path, "cannot write", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status SyncFile(int descriptor, const std::string& path) {
  if (fdatasync(descriptor) == 0 || errno == EINVAL) return absl::OkStatus();  // EINVAL: a pipe or device
  return FileError(path, "cannot sync", errno);
}

}  // namespace

absl::Status FileError(absl::string_view path, absl::string_view action, int error_number) {
  const std::string message = absl::StrCat(path, ": ", action, ": ", std::strerror(error_number));
  switch (error_number) {
    case ENOSPC:
    case EFBIG:
    case EDQUOT:
      return absl::ResourceExhaustedError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    default:
      return absl::NotFoundError(message);
  }
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return FileError(path, "cannot open", errno);
  std::string text;
  char buffer[1 << 16];
  std::size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof buffer, file)) > 0) text.append(buffer, got);
  const bool failed = std::ferror(file) != 0;
  const int error = errno;
  std::fclose(file);
  if (failed) return FileError(path, "cannot read", error);
  return text;
}

absl::Status WriteFileAtomically(const std::string& path, absl::string_view text) {
  const std::string beside = absl::StrCat(path, ".", getpid(), ".new");
  const int descriptor = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return FileError(path, "cannot create", errno);
  absl::Status status = WriteAll(descriptor, path, text);
  if (status.ok()) status = SyncFile(descriptor, path);
  close(descriptor);
  if (status.ok() && rename(beside.c_str(), path.c_str()) != 0)
    status = FileError(path, "cannot replace", errno);
  if (!status.ok()) unlink(beside.c_str());
  return status;
}

absl::StatusOr<AppendFile> AppendFile::Open(const std::string& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return FileError(path, "cannot open for writing", errno);
  return AppendFile(path, descriptor);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool AppendFile::TryLock() { return flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

absl::Status AppendFile::Append(absl::string_view text) { return WriteAll(descriptor_, path_, text); }

absl::Status AppendFile::Sync() { return SyncFile(descriptor_, path_); }

absl::Status AppendFile::Truncate(int64_t size) {
  if (ftruncate(descriptor_, size) == 0) return absl::OkStatus();
  return FileError(path_, "cannot shorten", errno);
}

}  // namespace forerun
