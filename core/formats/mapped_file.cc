// O_NONBLOCK keeps a FIFO from blocking the open; fstat then refuses everything that is not a regular file.
#include "core/formats/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

absl::Status FileError(const std::string& path, absl::string_view found, bool is_missing = false) {
  const std::string line = absl::StrCat(absl::Utf8SafeCHexEscape(path),
                                        ": expected a regular file that can be read, found ", found);
  return is_missing ? absl::NotFoundError(line) : absl::InvalidArgumentError(line);
}

absl::Status SystemError(const std::string& path, int error) {
  return FileError(path, absl::StrCat("'", std::generic_category().message(error), "'"), error == ENOENT);
}

const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  return "a device or socket";
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(absl::string_view path) {
  MappedFile file;
  file.path_ = std::string(path);
  file.descriptor_ = open(file.path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file.descriptor_ < 0) return SystemError(file.path_, errno);
  struct stat status;
  if (fstat(file.descriptor_, &status) != 0) return SystemError(file.path_, errno);
  if (!S_ISREG(status.st_mode)) return FileError(file.path_, KindOf(status.st_mode));
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return file;
  void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor_, 0);
  if (start == MAP_FAILED) return SystemError(file.path_, errno);
  file.bytes_ = {static_cast<const std::byte*>(start), size};
  file.guard_ = GuardMapping(file.bytes_, absl::Utf8SafeCHexEscape(file.path_));
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  std::swap(guard_, other.guard_);
  return *this;
}

MappedFile::~MappedFile() {
  if (guard_ != nullptr) UnguardMapping(guard_);
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  if (descriptor_ >= 0) close(descriptor_);
}

void MappedFile::Release(std::span<const std::byte> bytes) const {
  if (bytes.empty()) return;
  FORERUN_CHECK(bytes.data() >= bytes_.data() &&
                bytes.data() + bytes.size() <= bytes_.data() + bytes_.size());
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

absl::Status MappedFile::CheckUnchanged() const {
  struct stat status;
  if (fstat(descriptor_, &status) == 0 && static_cast<size_t>(status.st_size) == bytes_.size())
    return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(absl::Utf8SafeCHexEscape(path_), ": expected the ", bytes_.size(),
                                          " bytes that were opened, found ", status.st_size));
}

}  // namespace forerun
