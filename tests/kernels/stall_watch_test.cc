#include "kernels/runtime/stall_watch.h"

#include <gtest/gtest.h>

namespace forerun {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class StallWatchTest : public testing::Test {
 protected:
  void After(milliseconds time) { now_ += time; }
  bool Stalled(int worker = 0) { return watch_.Stalled(worker, now_); }
  bool Return(int worker = 0) { return watch_.Return(worker, now_); }
  // How long worker 0 sits out from now on.
  milliseconds TimeOut() {
    for (int time = 0; time < 10000; ++time, After(milliseconds(1))) {
      if (Return()) return milliseconds(time);
    }
    return milliseconds(-1);
  }

  const StallPolicy policy_{};
  StallWatch watch_{3, policy_};
  StallWatch::Time now_{milliseconds(12345)};
};

TEST_F(StallWatchTest, AWaitIsAStallWhereItIsLongInItselfAndForTheJob) {
  EXPECT_FALSE(watch_.IsStall(microseconds(400), microseconds(1)));
  EXPECT_TRUE(watch_.IsStall(microseconds(600), microseconds(1)));
  EXPECT_FALSE(watch_.IsStall(milliseconds(3), milliseconds(1)));
  EXPECT_TRUE(watch_.IsStall(milliseconds(7), milliseconds(1)));
}

TEST_F(StallWatchTest, OneStallNowAndThenIsForgiven) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(Stalled());
    After(milliseconds(51));
  }
  EXPECT_EQ(watch_.num_out(), 0);
}

TEST_F(StallWatchTest, StallsOfDifferentWorkersDoNotAdd) {
  for (int worker = 0; worker < 3; ++worker) EXPECT_FALSE(Stalled(worker));
}

TEST_F(StallWatchTest, TwoInAShortTimeSendItOutForAPause) {
  EXPECT_FALSE(Stalled(1));
  After(milliseconds(6));
  EXPECT_TRUE(Stalled(1));
  EXPECT_TRUE(watch_.is_out(1));
  EXPECT_FALSE(watch_.is_out(0));
  EXPECT_EQ(watch_.num_out(), 1);
  EXPECT_FALSE(Stalled(1)) << "it sits out already";
  After(milliseconds(49));
  EXPECT_FALSE(Return(1));
  After(milliseconds(1));
  EXPECT_TRUE(Return(1));
  EXPECT_FALSE(Return(1)) << "it is back already";
  EXPECT_EQ(watch_.num_out(), 0);
}

TEST_F(StallWatchTest, ACoreThatStaysBusyIsTriedLessOften) {
  Stalled();
  Stalled();
  for (const int pause : {50, 100, 200, 400, 400, 400}) {
    EXPECT_EQ(TimeOut(), milliseconds(pause));
    After(milliseconds(5));
    EXPECT_TRUE(Stalled()) << "one is enough after a return";
  }
}

TEST_F(StallWatchTest, AGoodTimeAfterTheReturnStartsAfresh) {
  Stalled();
  Stalled();
  TimeOut();
  Stalled();
  EXPECT_EQ(TimeOut(), milliseconds(100));
  After(milliseconds(51));
  EXPECT_FALSE(Stalled());
  EXPECT_TRUE(Stalled());
  EXPECT_EQ(TimeOut(), milliseconds(50));
}

}  // namespace
}  // namespace forerun
