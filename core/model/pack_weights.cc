#include "core/model/pack_weights.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kernels/matmul/packed_matrix.h"

namespace forerun {
namespace {

constexpr std::size_t kSliceBytes = std::size_t{8} << 20;  // file bytes packed before their pages are let go

struct PackArgs {
  TensorType type;
  const std::byte* rows;  // [outputs, RowBytes]
  int64_t outputs;
  int64_t columns;
  std::byte* packed;
};

void PackGroups(const PackArgs& args, WorkRange range, Lane&) {
  const std::size_t row_bytes = RowBytes(args.type, args.columns);
  const std::size_t group_bytes = PackedGroupBytes(args.type, args.columns);
  for (int64_t group = range.begin; group < range.end; ++group) {
    const int64_t first = group * kPackedOutputs;
    const int rows = static_cast<int>(std::min<int64_t>(kPackedOutputs, args.outputs - first));
    PackGroup(args.type, args.rows + first * row_bytes, rows, args.columns,
              args.packed + group * group_bytes);
  }
}

void PackMatrix(const GgufFile& file, const GgufTensor& tensor, std::byte* packed, ThreadPool& threads) {
  const PackArgs args{tensor.type, tensor.data.data(), tensor.rows(), tensor.columns(), packed};
  const std::size_t group_file_bytes = RowBytes(args.type, args.columns) * kPackedOutputs;
  const int64_t groups = PackedGroups(args.outputs);
  const int64_t slice = std::max<int64_t>(1, kSliceBytes / group_file_bytes);
  for (int64_t first = 0; first < groups; first += slice) {
    const int64_t count = std::min(slice, groups - first);
    PackArgs part = args;
    part.rows += first * group_file_bytes;
    part.outputs -= first * kPackedOutputs;
    part.packed += first * PackedGroupBytes(args.type, args.columns);
    threads.Run(&PackGroups, part, count, 1);
    const std::size_t begin = first * group_file_bytes;
    file.Release(tensor.data.subspan(begin, std::min(count * group_file_bytes, tensor.data.size() - begin)));
  }
}

// Fills weights.packed.
class Packer {
 public:
  Packer(const GgufFile& file, std::span<const PackedPlace> places, ThreadPool& threads,
         ModelWeights& weights)
      : file_(file), places_(places), threads_(threads), weights_(weights) {}

  void Pack() {
    weights_.packed.memory = Buffer(weights_.packed_bytes);
    std::byte* const memory = weights_.packed.memory.data();
    for (const PackedPlace& place : places_)
      PackMatrix(file_, *place.tensor, memory + place.offset, threads_);
    weights_.packed.data = memory;
  }

  void PackWithCache() {
    const std::optional<PackedKey> key = MakeKey();
    if (!key.has_value()) return Pack();
    const std::string path = PackedCachePath(file_.path());
    if (auto cached = ReadPackedCache(path, *key, threads_)) {
      weights_.packed = *std::move(cached);
      weights_.from_cache = true;
      return;
    }
    const auto begin = Clock::now();
    Pack();
    const auto packed = Clock::now();
    if (MakeKey() != key) return;  // somebody is writing to the model
    const absl::StatusOr<bool> written =
        WritePackedCache(path, *key, {weights_.packed.data, weights_.packed_bytes}, threads_);
    if (!written.ok()) {
      weights_.note = absl::StrCat(written.status().message(), "; each start packs the weights again");
    } else if (*written) {
      weights_.note = absl::StrFormat(
          "%s: wrote %.0f MB of packed weights (%.1f s); the next start need not pack them again (%.1f s)",
          path, weights_.packed_bytes / 1e6, Seconds(packed, Clock::now()), Seconds(begin, packed));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double Seconds(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
  }
  std::optional<PackedKey> MakeKey() const { return MakePackedKey(file_, places_, weights_.packed_bytes); }

  const GgufFile& file_;
  std::span<const PackedPlace> places_;
  ThreadPool& threads_;
  ModelWeights& weights_;
};

}  // namespace

void PackWeights(const GgufFile& file, std::span<const PackedPlace> places, ThreadPool& threads,
                 const PackedCacheOptions& cache, ModelWeights& weights) {
  Packer packer(file, places, threads, weights);
  if (cache.enabled && weights.packed_bytes >= cache.least_bytes) {
    packer.PackWithCache();
  } else {
    packer.Pack();
  }
}

}  // namespace forerun
