// Which workers of a pool should sit out, because the operating system gives their core to somebody else: a
// worker that is descheduled in the middle of a chunk holds up everybody for a scheduler's time slice. Time
// comes from outside, so that it can be tested; one thread at a time.
#pragma once

#include <chrono>
#include <vector>

namespace forerun {

struct StallPolicy {
  // A wait is a stall where it is longer than this, and than `chunks` times what a chunk took in that job.
  std::chrono::nanoseconds longest_wait = std::chrono::microseconds(500);
  int chunks = 6;
  // Two stalls within `memory` send a worker out for `pause`. One more within `memory` of its return, and it
  // is out for twice as long, up to `longest_pause`: so a busy core costs one stall each `longest_pause`.
  std::chrono::nanoseconds memory = std::chrono::milliseconds(50);
  std::chrono::nanoseconds pause = std::chrono::milliseconds(50);
  std::chrono::nanoseconds longest_pause = std::chrono::milliseconds(400);
};

class StallWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  StallWatch(int workers, const StallPolicy& policy) : policy_(policy), workers_(workers) {}

  bool IsStall(std::chrono::nanoseconds waited, std::chrono::nanoseconds chunk) const {
    return waited > policy_.longest_wait && waited > policy_.chunks * chunk;
  }

  // `worker` has held up a job. True where it is to sit out from now on.
  bool Stalled(int worker, Time now);
  // True where `worker` sits out and may come back now.
  bool Return(int worker, Time now);

  int num_out() const { return num_out_; }
  bool is_out(int worker) const { return workers_[worker].out; }

 private:
  struct Worker {
    bool out = false;
    Time last_stall = Time::min();  // or the return, which one stall proves to have been too early
    Time until = Time::min();       // the end of the last pause
    std::chrono::nanoseconds pause{0};
  };

  StallPolicy policy_;
  std::vector<Worker> workers_;
  int num_out_ = 0;
};

}  // namespace forerun
