// Workers that hold up a job because they are off their core. A chunk that sleeps is one that was
// descheduled.
#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "kernels/runtime/thread_pool.h"

namespace forerun {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr StallPolicy kQuick = {.longest_wait = milliseconds(1),
                                .chunks = 0,
                                .memory = std::chrono::seconds(30),
                                .pause = milliseconds(30),
                                .longest_pause = milliseconds(30)};

struct MeetArgs {
  std::thread::id caller;
  std::atomic<int>* present = nullptr;
  const std::function<void()>* callers = nullptr;  // what a chunk does once both are there
  const std::function<void()>* workers = nullptr;
};

// Two chunks that wait for each other: each of two threads has one. Gives up after ten seconds.
void Meet(const MeetArgs& args, WorkRange, Lane&) {
  ++*args.present;
  const auto begin = steady_clock::now();
  while (*args.present < 2 && steady_clock::now() - begin < std::chrono::seconds(10)) {
    std::this_thread::yield();
  }
  if (std::this_thread::get_id() == args.caller) {
    (*args.callers)();
  } else {
    (*args.workers)();
  }
}

bool RunMeeting(ThreadPool& pool, const std::function<void()>& callers,
                const std::function<void()>& workers) {
  std::atomic<int> present = 0;
  const auto begin = steady_clock::now();
  pool.Run<MeetArgs>(Meet, {std::this_thread::get_id(), &present, &callers, &workers}, 2, 1);
  return steady_clock::now() - begin < std::chrono::seconds(10);
}

void Nothing() {}
void Sleep() { std::this_thread::sleep_for(milliseconds(20)); }

struct WhoArgs {
  std::atomic<int>* others = nullptr;
  std::thread::id caller;
};
void Who(const WhoArgs& args, WorkRange, Lane&) { *args.others += std::this_thread::get_id() != args.caller; }

void ExpectOutAndBack(const std::function<void()>& callers, const std::function<void()>& workers) {
  ThreadPool pool(2, kQuick);
  ASSERT_TRUE(RunMeeting(pool, Nothing, Nothing));
  ASSERT_EQ(pool.num_active(), 2);
  // Twice would do on a machine that is ours alone.
  for (int i = 0; i < 50 && pool.num_active() == 2; ++i) RunMeeting(pool, callers, workers);
  ASSERT_EQ(pool.num_active(), 1);

  std::atomic<int> others = 0;
  pool.Run<WhoArgs>(Who, {&others, std::this_thread::get_id()}, 100, 1);
  if (pool.num_active() == 1) {
    EXPECT_EQ(others, 0);
  }

  std::this_thread::sleep_for(kQuick.pause);
  EXPECT_TRUE(RunMeeting(pool, Nothing, Nothing)) << "the worker has not come back";
}

TEST(ThreadPoolStallTest, AWorkerThatHoldsUpJobsIsLeftOutForAWhile) { ExpectOutAndBack(Nothing, Sleep); }

TEST(ThreadPoolStallTest, ACallerThatHoldsUpJobsWorksAloneForAWhile) { ExpectOutAndBack(Sleep, Nothing); }

// The others wait just as long for a worker that computes as for one that is off its core.
TEST(ThreadPoolStallTest, ALongChunkIsNoStall) {
  bool disturbed = false;
  const auto compute = [&] {
    const auto cpu_time = [] {
      timespec time;
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    };
    const auto cpu_before = cpu_time();
    const auto begin = steady_clock::now();
    while (cpu_time() - cpu_before < milliseconds(5)) {
    }
    disturbed |= steady_clock::now() - begin > milliseconds(7);
  };
  for (int attempt = 0; attempt < 30; ++attempt) {
    disturbed = false;
    ThreadPool pool(2, kQuick);
    for (int i = 0; i < 4 && pool.num_active() == 2; ++i) {
      const auto begin = steady_clock::now();
      RunMeeting(pool, Nothing, compute);
      disturbed |= steady_clock::now() - begin > milliseconds(7);
    }
    if (disturbed) continue;
    EXPECT_EQ(pool.num_active(), 2);
    return;
  }
  GTEST_SKIP() << "the machine is too busy to tell";
}

// One worker of three is left out; the other two go on.
TEST(ThreadPoolStallTest, OthersStay) {
  ThreadPool pool(3, kQuick);
  std::atomic<bool> slept = false;
  const std::thread::id caller = std::this_thread::get_id();
  struct Args {
    std::thread::id caller;
    std::atomic<bool>* slept;
  };
  for (int i = 0; i < 100 && pool.num_active() == 3; ++i) {
    slept = false;
    pool.Run<Args>(
        [](const Args& args, WorkRange, Lane&) {
          if (std::this_thread::get_id() == args.caller) {
            std::this_thread::yield();
          } else if (!args.slept->exchange(true)) {
            Sleep();
          }
        },
        {caller, &slept}, 300, 1);
  }
  EXPECT_EQ(pool.num_active(), 2);
}

struct CountArgs {
  std::atomic<int>* visits = nullptr;
};
void Count(const CountArgs& args, WorkRange range, Lane&) {
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    for (int i = 0; i < 300; ++i) args.visits[unit].load();
    if (unit % 61 == 7) std::this_thread::sleep_for(std::chrono::microseconds(300));
    ++args.visits[unit];
  }
}

// Spinning threads come and go and chunks fall asleep, so workers sit out and return in the middle of
// everything.
TEST(ThreadPoolStallTest, EachUnitOnceWhateverElseRuns) {
  StallPolicy nervous = {.longest_wait = std::chrono::microseconds(100),
                         .chunks = 1,
                         .memory = milliseconds(50),
                         .pause = milliseconds(2),
                         .longest_pause = milliseconds(8)};
  std::atomic<bool> stop = false;
  std::vector<std::thread> spinners;
  for (int i = 0; i < 3; ++i) {
    spinners.emplace_back([&stop, i] {
      while (!stop) {
        const auto begin = steady_clock::now();
        while (steady_clock::now() - begin < milliseconds(7 + 5 * i)) {
        }
        std::this_thread::sleep_for(milliseconds(11));
      }
    });
  }
  std::set<int> seen;
  for (const int threads : {2, 3, 5}) {
    ThreadPool pool(threads, nervous);
    const auto begin = steady_clock::now();
    for (int job = 0; steady_clock::now() - begin < milliseconds(400); ++job) {
      const int units = 1 + job * 37 % 300;
      std::vector<std::atomic<int>> visits(units);
      pool.Run<CountArgs>(Count, {visits.data()}, units, 1 + job % 4);
      for (int unit = 0; unit < units; ++unit) ASSERT_EQ(visits[unit], 1) << unit << " of " << units;
      seen.insert(pool.num_active() - threads);
    }
  }
  stop = true;
  for (std::thread& spinner : spinners) spinner.join();
  EXPECT_GT(seen.size(), 1u) << "nobody ever sat out";
}

}  // namespace
}  // namespace forerun
