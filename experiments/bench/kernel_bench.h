// Every kernel by itself at the shapes of the four pinned models, through Google Benchmark (`forerun bench
// kernels`). Weights and contexts are the random ones that the tests use. Counters, all of an operation's
// best time: us; GB/s of packed weights or keys and values (each counted once, whatever the rows) and GMAC/s,
// with their shares of what this machine allows (short calls find
// a shared machine undisturbed more often than the long reads that measure it: a share may pass 1 a little).
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "experiments/bench/roofline.h"
#include "kernels/kernels.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

// What the benchmarks run on; outlives them.
struct KernelBench {
  const Kernels& kernels;
  ThreadPool& threads;
  Roofline& roofline;
};

void RegisterMatmulBenchmarks(const KernelBench& bench);
void RegisterAttentionBenchmarks(const KernelBench& bench);
void RegisterRowBenchmarks(const KernelBench& bench);  // the operations that go row by row

// Runs those whose name matches the regular expression; text or JSON on standard output. False where none
// matches.
bool RunKernelBenchmarks(const std::string& filter, bool json);

// What one call of an operation does; 0: not worth a counter.
struct KernelWork {
  double bytes = 0;  // read from memory
  double multiply_adds = 0;
  double gmac_s = 0;  // the ceiling
};

// Times `run(i)`, one call on the i-th of `slots` data sets: enough of them that none stays in cache, where
// the operation streams.
template <class Run>
void TimeKernel(const KernelBench& bench, benchmark::State& state, int64_t slots, const KernelWork& work,
                Run run) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> best(slots, std::numeric_limits<double>::infinity());
  int64_t slot = 0, calls = 0;
  for (auto _ : state) {
    const Clock::time_point start = Clock::now();
    run(slot);
    best[slot] = std::min(best[slot], std::chrono::duration<double>(Clock::now() - start).count());
    slot = (slot + 1) % slots;
    ++calls;
  }
  double seconds = 0;  // of one call; on a busy machine a whole pass is hardly ever undisturbed
  const int64_t timed = std::min(slots, calls);
  for (int64_t i = 0; i < timed; ++i) seconds += best[i] / static_cast<double>(timed);
  state.counters["us"] = seconds * 1e6;
  if (work.bytes > 0) {
    state.counters["GB/s"] = work.bytes / seconds / 1e9;
    state.counters["of_read"] = work.bytes / seconds / 1e9 / bench.roofline.read_gb_s();
  }
  if (work.multiply_adds > 0) {
    state.counters["GMAC/s"] = work.multiply_adds / seconds / 1e9;
    state.counters["of_ceiling"] = work.multiply_adds / seconds / 1e9 / work.gmac_s;
  }
}

}  // namespace forerun
