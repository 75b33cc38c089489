// A progress bar on stderr: one line redrawn on a terminal, a line every ten seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace forerun {

class Progress {
 public:
  // `done` of `total` units were there before.
  Progress(int done, int total);

  void Advance(const std::string& arm, int64_t tokens, double seconds);  // one unit more, at this speed
  void Finish();                                                         // leaves the line

 private:
  std::string Line(const std::string& arm, double tokens_per_second) const;

  using Clock = std::chrono::steady_clock;
  bool terminal_;
  int done_before_, done_, total_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_;
};

// A share of some work, with the time left: silent for the first second, then redrawn once a second on a
// terminal, every ten seconds elsewhere.
class ShareProgress {
 public:
  explicit ShareProgress(std::string name);
  void Show(double done);  // of 1
  void Finish();           // leaves the line

 private:
  using Clock = std::chrono::steady_clock;
  std::string name_;
  bool terminal_;
  bool shown_once_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

// "1 h 05 min", "3 min 20 s", "12 s".
std::string DurationText(double seconds);

}  // namespace forerun
