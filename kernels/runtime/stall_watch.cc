#include "kernels/runtime/stall_watch.h"

#include <algorithm>

namespace forerun {

bool StallWatch::Stalled(int index, Time now) {
  Worker& worker = workers_[index];
  if (worker.out) return false;
  const bool again = worker.last_stall != Time::min() && now - worker.last_stall <= policy_.memory;
  worker.last_stall = now;
  if (!again) {
    worker.pause = std::chrono::nanoseconds(0);
    return false;
  }
  worker.pause =
      worker.pause.count() == 0 ? policy_.pause : std::min(2 * worker.pause, policy_.longest_pause);
  worker.until = now + worker.pause;
  worker.out = true;
  ++num_out_;
  return true;
}

bool StallWatch::Return(int index, Time now) {
  Worker& worker = workers_[index];
  if (!worker.out || now < worker.until) return false;
  worker.out = false;
  worker.last_stall = now;
  --num_out_;
  return true;
}

}  // namespace forerun
