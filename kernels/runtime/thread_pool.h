// All cores, one parallel loop at a time. Threads claim chunks from a shared counter, so a slow core does
// less and a sleeping one is not waited for; no result depends on who did what.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/runtime/lane.h"
#include "kernels/variants.h"

namespace forerun {

class ThreadPool {
 public:
  explicit ThreadPool(int num_threads);  // the calling thread is one of them; 0 = one per available core
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(lanes_.size()); }

  // Runs `fn` over units [0, units) in chunks of at most `grain` >= 1 units and returns when all are done.
  // One thread at a time may call it.
  template <class Args>
  void Run(KernelFn<Args> fn, const Args& args, int64_t units, int64_t grain) {
    RunErased(
        [](const void* f, const void* a, WorkRange range, Lane& lane) {
          (*static_cast<const KernelFn<Args>*>(f))(*static_cast<const Args*>(a), range, lane);
        },
        &fn, &args, units, grain);
  }

 private:
  using Erased = void (*)(const void* fn, const void* args, WorkRange range, Lane& lane);
  struct Job {
    Erased call = nullptr;
    const void* fn = nullptr;
    const void* args = nullptr;
    int64_t units = 0;
    int64_t grain = 1;
    int64_t chunks = 0;
  };
  static int64_t ChunksLeft(uint64_t ticket) { return static_cast<int64_t>(ticket & 0xffffffff); }

  void RunErased(Erased call, const void* fn, const void* args, int64_t units, int64_t grain);
  void TakeChunks(Lane& lane);
  void WorkerLoop(int index);

  std::vector<std::unique_ptr<Lane>> lanes_;  // [num_threads]; 0 is the caller's
  std::vector<std::thread> workers_;          // [num_threads - 1]
  Job job_;
  alignas(64) std::atomic<uint64_t> ticket_{0};  // the job's number << 32 | chunks that nobody has claimed
  alignas(64) std::atomic<uint32_t> generation_{0};  // grows by one per job; workers wait on it
  alignas(64) std::atomic<int32_t> unfinished_{0};   // chunks of the current job that are not done
  std::atomic<bool> stop_{false};
};

}  // namespace forerun
