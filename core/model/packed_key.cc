// What makes a packed cache this model's.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/model/packed_cache.h"
#include "core/model/slab_hash.h"
#include "kernels/matmul/packed_matrix.h"

namespace forerun {
namespace {

constexpr int kSamples = 16;  // tensors whose data is looked at, one cache line each

uint64_t HashText(absl::string_view text, uint64_t seed) {
  return SlabHash({reinterpret_cast<const std::byte*>(text.data()), text.size()}, seed);
}

// Packs one group of known bytes of every type that occurs.
uint64_t HashLayout(std::span<const PackedPlace> places) {
  constexpr int64_t kColumns = 512;
  uint64_t hash = 0;
  std::vector<TensorType> seen;
  for (const PackedPlace& place : places) {
    const TensorType type = place.tensor->type;
    if (std::find(seen.begin(), seen.end(), type) != seen.end()) continue;
    seen.push_back(type);
    std::vector<std::byte> rows(RowBytes(type, kColumns) * kPackedOutputs);
    uint32_t state = 1;
    for (std::byte& byte : rows) byte = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
    std::vector<std::byte> packed(PackedGroupBytes(type, kColumns));
    PackGroup(type, rows.data(), kPackedOutputs, kColumns, packed.data());
    hash = SlabHash(packed, hash);
  }
  return hash;
}

uint64_t HashModel(const GgufFile& file, std::span<const PackedPlace> places) {
  uint64_t hash = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    hash = HashText(absl::StrCat(tensor.name, " ", static_cast<int>(tensor.type), " ",
                                 tensor.data.data() - file.tensors()[0].data.data()),
                    hash);
    for (const int64_t size : tensor.shape) hash = HashText(absl::StrCat(size), hash);
  }
  for (const PackedPlace& place : places) {
    hash = HashText(absl::StrCat(place.tensor->name, " ", place.offset), hash);
  }
  const std::size_t step = std::max<std::size_t>(1, places.size() / kSamples);
  for (std::size_t i = 0; i < places.size(); i += step) {
    const std::span<const std::byte> data = places[i].tensor->data;
    hash = SlabHash(data.subspan(data.size() / 2, std::min<std::size_t>(64, data.size() - data.size() / 2)),
                    hash);
  }
  return hash;
}

}  // namespace

std::optional<PackedKey> MakePackedKey(const GgufFile& file, std::span<const PackedPlace> places,
                                       std::size_t payload_bytes) {
  struct stat status;
  if (stat(file.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (static_cast<std::size_t>(status.st_size) != file.file_bytes()) return std::nullopt;
  return PackedKey{.layout = HashLayout(places),
                   .model_bytes = file.file_bytes(),
                   .model_mtime = status.st_mtim.tv_sec * int64_t{1000000000} + status.st_mtim.tv_nsec,
                   .model = HashModel(file, places),
                   .payload_bytes = payload_bytes};
}

std::string PackedCachePath(absl::string_view model_path) {
  const std::string path(model_path);
  char* const real = realpath(path.c_str(), nullptr);
  const std::string cache = absl::StrCat(real == nullptr ? path.c_str() : real, ".packed");
  std::free(real);
  return cache;
}

}  // namespace forerun
