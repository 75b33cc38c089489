#include "core/model/packed_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/model/slab_hash.h"

namespace forerun {
namespace {

constexpr char kMagic[] = "frPACKED";
constexpr std::size_t kSlabBytes = std::size_t{2} << 20;  // has a checksum, is one thread's
constexpr std::size_t kPage = 4096;

struct Header {
  char magic[8];
  PackedKey key;
  uint64_t slab_bytes;
  uint64_t checksum;  // of everything before the payload, this field being zero
};

std::size_t Slabs(const PackedKey& key) { return (key.payload_bytes + kSlabBytes - 1) / kSlabBytes; }

std::size_t PayloadOffset(const PackedKey& key) {
  return (sizeof(Header) + Slabs(key) * sizeof(uint64_t) + kPage - 1) / kPage * kPage;
}

// All that stands before the payload.
std::vector<std::byte> MakeFront(const PackedKey& key, std::span<const uint64_t> checksums) {
  std::vector<std::byte> front(PayloadOffset(key));
  Header header = {.magic = {}, .key = key, .slab_bytes = kSlabBytes, .checksum = 0};
  std::memcpy(header.magic, kMagic, sizeof(header.magic));
  std::memcpy(front.data(), &header, sizeof(header));
  std::memcpy(front.data() + sizeof(header), checksums.data(), checksums.size_bytes());
  header.checksum = SlabHash(front);
  std::memcpy(front.data(), &header, sizeof(header));
  return front;
}

struct SlabArgs {
  std::span<const std::byte> payload;
  uint64_t* checksums = nullptr;        // [slabs], written
  std::byte* copy = nullptr;            // [payload] or null; checksums are of the copy
  const MappedFile* release = nullptr;  // lets go of what was copied
};

void DoSlabs(const SlabArgs& args, WorkRange range, Lane&) {
  for (int64_t slab = range.begin; slab < range.end; ++slab) {
    const std::size_t begin = slab * kSlabBytes;
    std::span<const std::byte> bytes =
        args.payload.subspan(begin, std::min(kSlabBytes, args.payload.size() - begin));
    if (args.copy != nullptr) {
      std::memcpy(args.copy + begin, bytes.data(), bytes.size());
      args.release->Release(bytes);
      bytes = {args.copy + begin, bytes.size()};
    }
    args.checksums[slab] = SlabHash(bytes);
  }
}

// Touches one byte in each huge page, so that the kernel maps what it has, and asks what that was.
bool SitsOnHugePages(std::span<const std::byte> bytes) {
  madvise(const_cast<std::byte*>(bytes.data()), bytes.size(), MADV_HUGEPAGE);
  for (std::size_t at = 0; at < bytes.size(); at += std::size_t{2} << 20) {
    static_cast<void>(*static_cast<const volatile std::byte*>(bytes.data() + at));
  }
  std::ifstream smaps("/proc/self/smaps");
  const std::string begin = absl::StrCat(absl::Hex(reinterpret_cast<uintptr_t>(bytes.data())), "-");
  bool here = false;
  for (std::string line; std::getline(smaps, line);) {
    here |= absl::StartsWith(line, begin);
    absl::string_view value = line;
    if (!here || !absl::ConsumePrefix(&value, "FilePmdMapped:")) continue;
    return std::strtoull(std::string(value).c_str(), nullptr, 10) * 1024 >= bytes.size() / 8 * 7;
  }
  return false;
}

absl::Status SystemError(const std::string& path, absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(absl::Utf8SafeCHexEscape(path), ": cannot ", what, ": ",
                                             std::generic_category().message(errno)));
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int operator*() const { return descriptor_; }

 private:
  int descriptor_;
};

absl::Status WriteAll(int descriptor, const std::string& path, std::span<const std::byte> bytes) {
  constexpr std::size_t kMost = std::size_t{4} << 20;  // lets the kernel make large pages of it
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), std::min(bytes.size(), kMost));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return SystemError(path, "write");
    bytes = bytes.subspan(written);
  }
  return absl::OkStatus();
}

// True where `descriptor`, locked by us, still is the file of that name: nobody has renamed it since.
bool IsStillNamed(int descriptor, const std::string& path) {
  struct stat opened, named;
  return fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

absl::Status WriteFile(int descriptor, const std::string& temporary, const std::string& path,
                       std::span<const std::byte> front, std::span<const std::byte> payload) {
  if (ftruncate(descriptor, 0) != 0) return SystemError(temporary, "empty");
  FORERUN_RETURN_IF_ERROR(WriteAll(descriptor, temporary, front));
  FORERUN_RETURN_IF_ERROR(WriteAll(descriptor, temporary, payload));
  if (fsync(descriptor) != 0) return SystemError(temporary, "sync");
  if (rename(temporary.c_str(), path.c_str()) != 0) return SystemError(path, "rename to");
  return absl::OkStatus();
}

}  // namespace

std::optional<PackedPayload> ReadPackedCache(const std::string& path, const PackedKey& key,
                                             ThreadPool& threads, PackedResidence residence) {
  absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  const std::size_t offset = PayloadOffset(key);
  if (!file.ok() || file->bytes().size() != offset + key.payload_bytes) return std::nullopt;
  std::vector<uint64_t> expected(Slabs(key)), found(expected.size());
  std::memcpy(expected.data(), file->bytes().data() + sizeof(Header), expected.size() * sizeof(uint64_t));
  const std::vector<std::byte> front = MakeFront(key, expected);
  if (!std::equal(front.begin(), front.end(), file->bytes().begin())) return std::nullopt;

  const bool map = residence == PackedResidence::kMapped ||
                   (residence == PackedResidence::kFastest && SitsOnHugePages(file->bytes()));
  PackedPayload result;
  if (!map) result.memory = Buffer(key.payload_bytes);
  const SlabArgs args = {.payload = file->bytes().subspan(offset),
                         .checksums = found.data(),
                         .copy = result.memory.data(),
                         .release = &*file};
  threads.Run(&DoSlabs, args, static_cast<int64_t>(found.size()), 1);
  if (found != expected) return std::nullopt;
  result.data = map ? args.payload.data() : result.memory.data();
  if (map) result.file = *std::move(file);
  return result;
}

absl::StatusOr<bool> WritePackedCache(const std::string& path, const PackedKey& key,
                                      std::span<const std::byte> payload, ThreadPool& threads) {
  std::vector<uint64_t> checksums(Slabs(key));
  const SlabArgs args = {
      .payload = payload, .checksums = checksums.data(), .copy = nullptr, .release = nullptr};
  threads.Run(&DoSlabs, args, static_cast<int64_t>(checksums.size()), 1);

  const std::string temporary = absl::StrCat(path, ".tmp");
  const Descriptor descriptor(open(temporary.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (*descriptor < 0) return SystemError(temporary, "create");
  if (flock(*descriptor, LOCK_EX | LOCK_NB) != 0 || !IsStillNamed(*descriptor, temporary)) return false;
  const absl::Status written = WriteFile(*descriptor, temporary, path, MakeFront(key, checksums), payload);
  if (written.ok()) return true;
  unlink(temporary.c_str());
  return written;
}

}  // namespace forerun
