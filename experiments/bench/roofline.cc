#include "experiments/bench/roofline.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "experiments/base/median.h"
#include "kernels/matmul/packed_layout.h"

namespace forerun {
namespace {

constexpr int64_t kReadUnit = int64_t{256} << 10;
constexpr int64_t kReadGrain = 4;           // units, 1 MiB
constexpr int64_t kMixRowBlocks = 1 << 14;  // rows * blocks of one unit: some 0.1 ms
constexpr int64_t kUnitsPerThread = 8;
constexpr double kColumnsOfBlock = 32, kOutputs = 16;

// Far beyond the last-level cache.
std::size_t ReadBytes() {
  const long cache = std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE));
  return std::clamp<std::size_t>(4 * static_cast<std::size_t>(cache), std::size_t{256} << 20,
                                 std::size_t{1} << 30);
}

// A millisecond is easily lost to another program: the mixes run several times each.
constexpr int kMixPasses = 4;

template <class Run>
double Seconds(Run run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Roofline::Roofline(Isa isa, ThreadPool& threads)
    : isa_(isa), threads_(threads), memory_(ReadBytes()), sums_(memory_.bytes() / kReadUnit) {
  std::memset(memory_.data(), 0x5a, memory_.bytes());  // pages of their own, not the one of zeros
  y_.resize(kUnitsPerThread * threads.num_threads() * 8 * static_cast<int64_t>(kOutputs));
  MeasureRead();
  MeasureFma();
}

void Roofline::RefreshEvery(double seconds) {
  if (std::chrono::steady_clock::now() - refreshed_ > std::chrono::duration<double>(seconds)) Refresh();
}

void Roofline::Refresh() {
  MeasureRead();
  MeasureFma();
  for (auto& [mix, best] : mixes_) MeasureMix(mix, best);
  refreshed_ = std::chrono::steady_clock::now();
}

void Roofline::MeasureRead() {
  StreamReadArgs args{.data = memory_.data(), .unit_bytes = kReadUnit, .sums = sums_.data()};
  for (const int streams : {1, 2, 4}) {
    for (const int64_t ahead : {0, 4096, 12288}) {
      args.streams = streams;
      args.ahead = ahead;
      const auto units = static_cast<int64_t>(sums_.size());
      const double seconds = Seconds([&] { threads_.Run(kStreamRead.For(isa_), args, units, kReadGrain); });
      reads_[{streams, ahead}].push_back(static_cast<double>(units * kReadUnit) / seconds / 1e9);
      read_gb_s_ = std::max(read_gb_s_, reads_[{streams, ahead}].back());
    }
  }
}

double Roofline::median_read_gb_s() const {
  double best = 0;
  for (const auto& [kernel, speeds] : reads_) best = std::max(best, Median(speeds));
  return best;
}

void Roofline::MeasureFma() {
  const std::vector<float> weights(32 * 16, 0.5f), x(kOpMixRing * 32 * 8, 1.0f);
  const int64_t units = kUnitsPerThread * threads_.num_threads();
  for (const int rows : kOpMixRows) {
    const FmaMixArgs args{rows, kMixRowBlocks / 4 / rows, weights.data(), x.data(), y_.data()};
    double seconds = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < kMixPasses; ++pass) {
      seconds = std::min(seconds, Seconds([&] { threads_.Run(kFmaMix.For(isa_), args, units, 1); }));
    }
    const double done = static_cast<double>(units * rows * args.blocks) * kColumnsOfBlock * kOutputs;
    fma_gmac_s_ = std::max(fma_gmac_s_, done / seconds / 1e9);
  }
}

void Roofline::MeasureMix(const Mix& mix, double& best) {
  const std::vector<uint8_t> codes(8 * 64, 5);
  const std::vector<float> scales(32, 0.5f);
  const std::vector<OpMixBlock> x(kOpMixRing * 8, OpMixBlock{{1, 2, 3}, 0.5f, {1, 1}});
  const int64_t units = kUnitsPerThread * threads_.num_threads();
  for (const int rows : kOpMixRows) {
    const OpMixArgs args{.sub_blocks = mix.sub_blocks,
                         .has_min = mix.has_min,
                         .rows = rows,
                         .blocks = kMixRowBlocks / rows,
                         .codes = codes.data(),
                         .scales = scales.data(),
                         .minima = scales.data(),
                         .x = x.data(),
                         .y = y_.data()};
    double seconds = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < kMixPasses; ++pass) {
      seconds = std::min(seconds, Seconds([&] { threads_.Run(kOpMix.For(isa_), args, units, 1); }));
    }
    const double done = static_cast<double>(units * rows * args.blocks) * kColumnsOfBlock * kOutputs;
    best = std::max(best, done / seconds / 1e9);
  }
}

double Roofline::gmac_s(const ModelMatrix& matrix) {
  if (!matrix.a8) return fma_gmac_s_;
  const PackedLayout layout = LayoutOf(matrix.type);
  const Mix mix = {32 / layout.sub_columns, layout.has_min};
  double& best = mixes_[mix];
  if (best == 0) MeasureMix(mix, best);
  return best;
}

double Roofline::gmac_s(std::span<const ModelMatrix> matrices) {
  double work = 0, time = 0;
  for (const ModelMatrix& matrix : matrices) {
    const double done = static_cast<double>(matrix.multiply_adds());
    work += done;
    time += done / gmac_s(matrix);
  }
  return work / time;
}

double Floor::ms(double read_gb_s, double gmac_s) const {
  return std::max(bytes / read_gb_s, multiply_adds / gmac_s) / 1e6;
}

Floor FloorOf(std::span<const ModelMatrix> matrices, int64_t rows) {
  Floor floor;
  for (const ModelMatrix& matrix : matrices) {
    floor.bytes += static_cast<double>(matrix.packed_bytes());
    floor.multiply_adds += static_cast<double>(rows * matrix.multiply_adds());
  }
  return floor;
}

}  // namespace forerun
