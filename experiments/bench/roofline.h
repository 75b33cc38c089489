// What this machine can do at most, measured: memory read a second, and multiply-adds a second under each
// numerics (kernels/roof/). Machines that share their cores are faster one second than the next, so a
// measurement calls Refresh() between its repeats, and the best that was seen counts, as it does for the
// forwards beside it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/model/transformer.h"
#include "kernels/isa.h"
#include "kernels/roof/op_mix.h"
#include "kernels/roof/stream_read.h"
#include "kernels/runtime/buffer.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

class Roofline {
 public:
  // `threads` outlives it.
  Roofline(Isa isa, ThreadPool& threads);

  double read_gb_s() const { return read_gb_s_; }
  // Of the read kernel that is typically the fastest: what a median time is set against. A best time meets
  // more luck the more often one tries, and memory is what neighbours disturb most.
  double median_read_gb_s() const;
  // Billions of multiply-adds a second of the bare f32 product.
  double fma_gmac_s() const { return fma_gmac_s_; }
  // Of the product by one matrix, and of a row through all of them: the harmonic mean weighted by
  // multiply-adds. A mix that was not asked for before is measured now.
  double gmac_s(const ModelMatrix& matrix);
  double gmac_s(std::span<const ModelMatrix> matrices);

  void Refresh();                     // measures everything once more
  void RefreshEvery(double seconds);  // where the last time was longer ago

 private:
  struct Mix {
    int sub_blocks = 1;
    bool has_min = false;

    friend auto operator<=>(const Mix&, const Mix&) = default;
  };

  struct ReadKernel {
    int streams = 1;
    int64_t ahead = 0;

    friend auto operator<=>(const ReadKernel&, const ReadKernel&) = default;
  };

  void MeasureRead();
  void MeasureFma();
  void MeasureMix(const Mix& mix, double& best);

  Isa isa_;
  ThreadPool& threads_;
  Buffer memory_;
  std::vector<uint64_t> sums_;
  std::vector<float> y_;
  std::map<ReadKernel, std::vector<double>> reads_;  // GB/s of every pass
  double read_gb_s_ = 0;
  double fma_gmac_s_ = 0;
  std::map<Mix, double> mixes_;
  std::chrono::steady_clock::time_point refreshed_ = std::chrono::steady_clock::now();
};

// How a time compares with what the machine allows.
struct Floor {
  double bytes = 0;          // packed weights streamed
  double multiply_adds = 0;  // of all rows

  double gb_s(double ms) const { return bytes / ms / 1e6; }
  double gmac_s(double ms) const { return multiply_adds / ms / 1e6; }
  // Milliseconds that no implementation with these numerics can go below.
  double ms(double read_gb_s, double gmac_s) const;
};
// Of a forward over `rows` rows, all with an output. Weights alone: keys and values are not counted.
Floor FloorOf(std::span<const ModelMatrix> matrices, int64_t rows);

}  // namespace forerun
