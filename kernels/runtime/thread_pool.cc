#include "kernels/runtime/thread_pool.h"

#include <immintrin.h>

#include <algorithm>

namespace forerun {
namespace {

// About 50 microseconds of spinning: longer than the gaps between the kernels of one forward pass, shorter
// than what would be felt when the caller has gone away. Then the thread sleeps.
constexpr int kSpins = 2000;

template <class Ready, class Wait>
void SpinThenWait(Ready ready, Wait wait) {
  while (true) {
    for (int i = 0; i < kSpins; ++i) {
      if (ready()) return;
      _mm_pause();
    }
    if (ready()) return;
    wait();
  }
}

}  // namespace

ThreadPool::ThreadPool(int num_threads) {
  if (num_threads <= 0) num_threads = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 0; i < num_threads; ++i) lanes_.push_back(std::make_unique<Lane>());
  for (int i = 1; i < num_threads; ++i) workers_.emplace_back([this, i] { WorkerLoop(i); });
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

// A chunk is claimed by counting down the ticket, which also carries the job's number: who succeeds holds a
// chunk of a job that cannot end, nor its description change, before that chunk is done. So nobody waits for
// a worker that sleeps or was descheduled between chunks; it finds the ticket at zero, or a later job's.
void ThreadPool::TakeChunks(Lane& lane) {
  while (true) {
    uint64_t ticket = ticket_.load(std::memory_order_acquire);
    do {
      if (ChunksLeft(ticket) == 0) return;
    } while (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
    const int64_t begin = (job_.chunks - ChunksLeft(ticket)) * job_.grain;
    job_.call(job_.fn, job_.args, {begin, std::min(begin + job_.grain, job_.units)}, lane);
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
  }
}

void ThreadPool::RunErased(Erased call, const void* fn, const void* args, int64_t units, int64_t grain) {
  if (units <= 0) return;
  if (workers_.empty() || units <= grain) {
    for (int64_t begin = 0; begin < units; begin += grain) {
      call(fn, args, {begin, std::min(begin + grain, units)}, *lanes_[0]);
    }
    return;
  }
  constexpr int64_t kMostChunks = INT32_MAX;
  grain = std::max(grain, (units + kMostChunks - 1) / kMostChunks);
  job_ = {call, fn, args, units, grain, (units + grain - 1) / grain};
  unfinished_.store(static_cast<int32_t>(job_.chunks), std::memory_order_relaxed);
  const uint64_t number = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
  ticket_.store(number << 32 | static_cast<uint64_t>(job_.chunks), std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  TakeChunks(*lanes_[0]);
  SpinThenWait([this] { return unfinished_.load(std::memory_order_acquire) == 0; },
               [this] {
                 const int32_t unfinished = unfinished_.load(std::memory_order_acquire);
                 if (unfinished != 0) unfinished_.wait(unfinished, std::memory_order_acquire);
               });
}

void ThreadPool::WorkerLoop(int index) {
  uint32_t seen = 0;
  while (true) {
    SpinThenWait([&] { return generation_.load(std::memory_order_acquire) != seen; },
                 [&] { generation_.wait(seen, std::memory_order_acquire); });
    seen = generation_.load(std::memory_order_acquire);
    if (stop_.load()) return;
    TakeChunks(*lanes_[index]);
  }
}

}  // namespace forerun
