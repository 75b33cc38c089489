#include "kernels/runtime/thread_pool.h"

#include <immintrin.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>

namespace forerun {
namespace {

using std::chrono::nanoseconds;

// About 90 microseconds on Zen 4: longer than the gaps between the kernels of one forward pass, shorter than
// what would be felt when the caller has gone away. Then the thread sleeps.
constexpr int kSpins = 2000;
// A system call; so not for each job.
constexpr nanoseconds kBetweenSamples = std::chrono::milliseconds(1);

template <class Ready>
bool Spin(Ready ready) {
  for (int i = 0; i < kSpins; ++i) {
    if (ready()) return true;
    _mm_pause();
  }
  return ready();
}

nanoseconds CpuTime(pthread_t thread) {
  clockid_t clock;
  timespec time{};
  if (pthread_getcpuclockid(thread, &clock) == 0) clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

}  // namespace

ThreadPool::ThreadPool(int num_threads, const StallPolicy& policy)
    : lanes_(num_threads > 0 ? num_threads : std::max(1u, std::thread::hardware_concurrency())),
      workers_(lanes_.size() - 1),
      stalls_(static_cast<int>(workers_.size()), policy) {
  for (std::unique_ptr<Lane>& lane : lanes_) lane = std::make_unique<Lane>();
  for (std::unique_ptr<Worker>& worker : workers_) worker = std::make_unique<Worker>();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->thread = std::thread([this, i] { WorkerLoop(*workers_[i], *lanes_[i + 1]); });
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  for (int i = 0; i + 1 < num_threads(); ++i) SetOut(i, false);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (const std::unique_ptr<Worker>& worker : workers_) worker->thread.join();
}

void ThreadPool::RunErased(Erased call, const void* fn, const void* args, int64_t units, int64_t grain) {
  if (units <= 0) return;
  if (stalls_.num_out() > 0) LetReturn();
  if (num_active() == 1 || units <= grain) return call(fn, args, {0, units}, *lanes_[0]);
  constexpr int64_t kMostChunks = INT32_MAX;
  grain = std::max(grain, (units + kMostChunks - 1) / kMostChunks);
  Course course;
  course.begin = Clock::now();
  if (course.begin - sampled_ >= kBetweenSamples) {
    sampled_ = course.begin;
    cpu_time_ = CpuTime(pthread_self());
  }
  Publish({call, fn, args, units, grain, (units + grain - 1) / grain});
  course.own_chunks = TakeChunks(*lanes_[0], nullptr);
  const bool waited = WaitForOthers(&course.ran_out);
  course.end = Clock::now();
  if (!waited) course.ran_out = course.end;
  LookForStall(course);
}

void ThreadPool::Publish(const Job& job) {
  job_ = job;
  unfinished_.store(static_cast<int32_t>(job.chunks), std::memory_order_relaxed);
  const uint64_t number = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
  ticket_.store(number << 32 | static_cast<uint64_t>(job.chunks), std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
}

// Chunks are claimed by counting down the ticket, which also carries the job's number: who succeeds holds
// chunks of a job that cannot end, nor its description change, before that chunk is done. So nobody waits for
// a worker that sleeps or was descheduled between chunks; it finds the ticket at zero, or a later job's.
int64_t ThreadPool::TakeChunks(Lane& lane, std::atomic<Clock::rep>* ended) {
  for (int64_t all_taken = 0;;) {
    uint64_t ticket = ticket_.load(std::memory_order_acquire);
    int64_t taken;
    do {
      const int64_t left = ChunksLeft(ticket);
      if (left == 0) return all_taken;
      taken = std::max<int64_t>(1, left / num_threads());
    } while (!ticket_.compare_exchange_weak(ticket, ticket - taken, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
    all_taken += taken;
    const int64_t begin = (job_.chunks - ChunksLeft(ticket)) * job_.grain;
    job_.call(job_.fn, job_.args, {begin, std::min(begin + taken * job_.grain, job_.units)}, lane);
    if (ended != nullptr && ChunksLeft(ticket_.load(std::memory_order_relaxed)) == 0) {
      ended->store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    }
    if (unfinished_.fetch_sub(static_cast<int32_t>(taken), std::memory_order_acq_rel) == taken) {
      unfinished_.notify_one();
    }
  }
}

bool ThreadPool::WaitForOthers(Clock::time_point* ran_out) {
  if (Spin([this] { return unfinished_.load(std::memory_order_acquire) == 0; })) return false;
  *ran_out = Clock::now();
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->cpu_time_before = CpuTime(worker->thread.native_handle());
  }
  // Asleep, so that a worker that shares the caller's core can go on.
  while (const int32_t unfinished = unfinished_.load(std::memory_order_acquire)) {
    unfinished_.wait(unfinished, std::memory_order_acquire);
  }
  return true;
}

// The last to end, by far, was not slow but off its core. Where that is the caller itself, any worker less
// leaves it a core.
void ThreadPool::LookForStall(const Course& course) {
  if (!stalls_.IsStall(course.end - course.begin, nanoseconds(0))) return;
  Worker* const last = LastToEnd();
  const Clock::time_point last_ended{Clock::duration(last->ended.load(std::memory_order_relaxed))};
  const bool waited = course.ran_out < course.end;
  nanoseconds wait, chunk, off_core;
  if (waited) {
    wait = course.end - course.ran_out;
    chunk = (course.ran_out - course.begin) / std::max<int64_t>(1, course.own_chunks);
    off_core = wait - (CpuTime(last->thread.native_handle()) - last->cpu_time_before);
  } else {
    if (last_ended < course.begin) return;
    wait = course.end - last_ended;
    chunk = (last_ended - course.begin) * (num_active() - 1) /
            std::max<int64_t>(1, job_.chunks - course.own_chunks);
    off_core = (course.end - sampled_) - (CpuTime(pthread_self()) - cpu_time_);
  }
  if (!stalls_.IsStall(wait, chunk) || off_core < wait / 2) return;
  int index = 0;
  for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
    if (waited ? workers_[i].get() == last : !stalls_.is_out(i)) index = i;
  }
  if (stalls_.Stalled(index, course.end)) SetOut(index, true);
}

ThreadPool::Worker* ThreadPool::LastToEnd() const {
  return std::max_element(workers_.begin(), workers_.end(),
                          [](const auto& a, const auto& b) { return a->ended.load() < b->ended.load(); })
      ->get();
}

void ThreadPool::LetReturn() {
  const Clock::time_point now = Clock::now();
  for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
    if (stalls_.Return(i, now)) SetOut(i, false);
  }
}

void ThreadPool::SetOut(int worker, bool out) {
  workers_[worker]->out.store(out);
  workers_[worker]->out.notify_one();
}

void ThreadPool::WorkerLoop(Worker& self, Lane& lane) {
  uint32_t seen = 0;
  while (true) {
    const auto has_job = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    while (!Spin(has_job)) generation_.wait(seen, std::memory_order_acquire);
    seen = generation_.load(std::memory_order_acquire);
    if (stop_.load()) return;
    if (self.out.load()) {
      self.out.wait(true);
    } else {
      TakeChunks(lane, &self.ended);
    }
  }
}

}  // namespace forerun
