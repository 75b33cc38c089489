#include "kernels/runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace forerun {
namespace {

struct CountArgs {
  std::atomic<int>* visits = nullptr;  // [units]
  int64_t grain = 1;
  std::atomic<bool>* broken = nullptr;
};

void Count(const CountArgs& args, WorkRange range, Lane&) {
  for (int64_t unit = range.begin; unit < range.end; ++unit) ++args.visits[unit];
  if (range.begin % args.grain != 0) args.broken->store(true);
}

void ExpectEachUnitOnce(ThreadPool& pool, int64_t units, int64_t grain) {
  std::vector<std::atomic<int>> visits(units);
  std::atomic<bool> broken = false;  // a chunk
  pool.Run<CountArgs>(Count, {visits.data(), grain, &broken}, units, grain);
  for (int64_t unit = 0; unit < units; ++unit) ASSERT_EQ(visits[unit], 1) << unit << " of " << units;
  ASSERT_FALSE(broken);
}

TEST(ThreadPoolTest, VisitsEachUnitOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.num_threads(), threads);
    for (const int64_t units : {0, 1, 2, 7, 64, 1000}) {
      for (const int64_t grain : {1, 3, 64, 5000}) ExpectEachUnitOnce(pool, units, grain);
    }
  }
}

TEST(ThreadPoolTest, ZeroMeansOnePerCore) { EXPECT_GE(ThreadPool(0).num_threads(), 1); }

// A worker late for one job must not take units of the next: jobs of changing size, back to back.
TEST(ThreadPoolTest, ManySmallJobsDoNotMix) {
  ThreadPool pool(4);
  for (int job = 0; job < 2000; ++job) ExpectEachUnitOnce(pool, 1 + job * 7 % 13, 1 + job % 2);
}

TEST(ThreadPoolTest, MoreThreadsThanCores) {
  ThreadPool pool(24);
  for (int job = 0; job < 100; ++job) ExpectEachUnitOnce(pool, 50, 1);
}

// Long enough for the workers to stop spinning and sleep.
TEST(ThreadPoolTest, WakesAfterAPause) {
  ThreadPool pool(3);
  for (int job = 0; job < 5; ++job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ExpectEachUnitOnce(pool, 10, 1);
  }
}

TEST(ThreadPoolTest, EndsAtAnyMoment) {
  for (int i = 0; i < 200; ++i) {
    ThreadPool pool(4);
    if (i % 2 == 0) ExpectEachUnitOnce(pool, 8, 1);
  }
}

struct ScratchArgs {
  std::atomic<int>* spoiled = nullptr;
};

// Writes the unit's number all over the lane's scratch, and finds it there after others had time to
// interfere.
void FillScratch(const ScratchArgs& args, WorkRange range, Lane& lane) {
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    const std::size_t bytes = 100 + 4000 * (unit % 5);
    auto* const scratch = static_cast<unsigned char*>(lane.Scratch(bytes));
    if (reinterpret_cast<std::uintptr_t>(scratch) % 64 != 0) ++*args.spoiled;
    std::memset(scratch, static_cast<int>(unit % 251), bytes);
    std::this_thread::yield();
    for (std::size_t i = 0; i < bytes; ++i) *args.spoiled += scratch[i] != unit % 251;
  }
}

TEST(ThreadPoolTest, EachThreadHasItsOwnScratch) {
  ThreadPool pool(4);
  std::atomic<int> spoiled = 0;
  pool.Run<ScratchArgs>(FillScratch, {&spoiled}, 400, 3);
  EXPECT_EQ(spoiled, 0);
}

}  // namespace
}  // namespace forerun
