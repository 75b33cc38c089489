// All cores, one parallel loop at a time. Threads claim chunks from a shared counter: an equal share of what
// is left, so that long runs of memory are read by one thread and short ones even out the end. A slow core
// does less, a sleeping one is not waited for, and a worker that keeps being descheduled inside its chunks
// sits out for a while (stall_watch.h). No result depends on who did what.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/runtime/lane.h"
#include "kernels/runtime/stall_watch.h"
#include "kernels/variants.h"

namespace forerun {

class ThreadPool {
 public:
  // The calling thread is one of them; 0 = one per available core.
  explicit ThreadPool(int num_threads, const StallPolicy& policy = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(lanes_.size()); }
  // Those that do not sit out just now; the caller's to ask, like Run().
  int num_active() const { return num_threads() - stalls_.num_out(); }

  // Runs `fn` over units [0, units), several chunks of `grain` >= 1 units at a time, and returns when all are
  // done.
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
  using Clock = std::chrono::steady_clock;
  using Erased = void (*)(const void* fn, const void* args, WorkRange range, Lane& lane);
  struct Job {
    Erased call = nullptr;
    const void* fn = nullptr;
    const void* args = nullptr;
    int64_t units = 0;
    int64_t grain = 1;
    int64_t chunks = 0;
  };
  struct alignas(64) Worker {
    std::thread thread;
    std::atomic<bool> out{false};                 // sits out, and sleeps on this
    std::atomic<Clock::rep> ended{0};             // its last chunk, where that left nothing to claim
    std::chrono::nanoseconds cpu_time_before{0};  // when the caller began to wait for a worker; the caller's
  };
  // How the caller fared in one job.
  struct Course {
    Clock::time_point begin, end;
    Clock::time_point ran_out;  // of chunks; `end` where it had not to wait
    int64_t own_chunks = 0;
  };
  static int64_t ChunksLeft(uint64_t ticket) { return static_cast<int64_t>(ticket & 0xffffffff); }

  void RunErased(Erased call, const void* fn, const void* args, int64_t units, int64_t grain);
  void Publish(const Job& job);
  // Returns how many. `ended`: see Worker; null for the caller.
  int64_t TakeChunks(Lane& lane, std::atomic<Clock::rep>* ended);
  // Returns when all chunks are done. False where that took no longer than a spin.
  bool WaitForOthers(Clock::time_point* ran_out);
  void LookForStall(const Course& course);
  Worker* LastToEnd() const;
  void SetOut(int worker, bool out);
  void LetReturn();
  void WorkerLoop(Worker& self, Lane& lane);

  std::vector<std::unique_ptr<Lane>> lanes_;      // [num_threads]; 0 is the caller's
  std::vector<std::unique_ptr<Worker>> workers_;  // [num_threads - 1]
  StallWatch stalls_;
  Job job_;
  alignas(64) std::atomic<uint64_t> ticket_{0};  // the job's number << 32 | chunks that nobody has claimed
  alignas(64) std::atomic<uint32_t> generation_{0};  // grows by one per job; workers wait on it
  alignas(64) std::atomic<int32_t> unfinished_{0};   // chunks of the current job that are not done
  std::atomic<bool> stop_{false};
  // The caller's CPU time at a recent moment.
  Clock::time_point sampled_;
  std::chrono::nanoseconds cpu_time_{0};
};

}  // namespace forerun
