// Packed weights kept in a file beside the model, so that a second start packs nothing. The bytes are the
// same for every instruction set. Anything wrong with such a file means that there is none: it never changes
// a result. The file: a header (packed_cache.cc), the slabs' checksums, and the payload from a page boundary
// on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/formats/gguf_file.h"
#include "core/formats/mapped_file.h"
#include "kernels/runtime/buffer.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

// Where a tensor's packed groups begin in the payload.
struct PackedPlace {
  const GgufTensor* tensor = nullptr;
  std::size_t offset = 0;
};

// What the payload depends on. Two models that agree in all of it are taken for the same.
struct PackedKey {
  uint64_t layout = 0;       // what packing does to known weights: changes with the layout, by itself
  uint64_t model_bytes = 0;  // of the file
  int64_t model_mtime = 0;   // nanoseconds
  uint64_t model = 0;        // of the tensors' names, types, shapes and places, and a few samples of the data
  uint64_t payload_bytes = 0;

  friend bool operator==(const PackedKey&, const PackedKey&) = default;
};

// None where the model is not a file that can be looked at.
std::optional<PackedKey> MakePackedKey(const GgufFile& file, std::span<const PackedPlace> places,
                                       std::size_t payload_bytes);

// "<the model's real path>.packed": beside the file that a link points to.
std::string PackedCachePath(absl::string_view model_path);

struct PackedPayload {
  const std::byte* data = nullptr;
  std::optional<MappedFile> file;  // one of these two holds it
  Buffer memory;
};

enum class PackedResidence {
  kFastest,  // mapped where the kernel has the file's pages in huge ones, else copied: decoding reads all of
             // it for each token, and small pages cost it bandwidth
  kMapped,
  kCopied,
};

// The payload, every byte of it checked. None where the file is missing, damaged or of another key.
std::optional<PackedPayload> ReadPackedCache(const std::string& path, const PackedKey& key,
                                             ThreadPool& threads,
                                             PackedResidence residence = PackedResidence::kFastest);

// Complete or not at all: written under another name in the same folder, synced, renamed. An error is one
// line. False where another process is writing the same file.
absl::StatusOr<bool> WritePackedCache(const std::string& path, const PackedKey& key,
                                      std::span<const std::byte> payload, ThreadPool& threads);

}  // namespace forerun
