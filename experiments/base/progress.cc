#include "experiments/base/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace forerun {
namespace {

constexpr int kBarWidth = 24;
constexpr std::chrono::seconds kBetweenLines(10);

}  // namespace

std::string DurationText(double seconds) {
  const int64_t whole = std::max<int64_t>(0, std::llround(seconds));
  if (whole >= 3600) return absl::StrFormat("%d h %02d min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return absl::StrFormat("%d min %02d s", whole / 60, whole % 60);
  return absl::StrFormat("%d s", whole);
}

Progress::Progress(int done, int total)
    : terminal_(isatty(STDERR_FILENO) == 1), done_before_(done), done_(done), total_(total), shown_(start_) {}

std::string Progress::Line(const std::string& arm, double tokens_per_second) const {
  const int filled = total_ == 0 ? kBarWidth : kBarWidth * done_ / total_;
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const double left = elapsed / std::max(1, done_ - done_before_) * (total_ - done_);
  return absl::StrFormat("[%s%s] %d/%d  %s  %.1f tok/s  %s left", std::string(filled, '#'),
                         std::string(kBarWidth - filled, '.'), done_, total_, arm, tokens_per_second,
                         DurationText(left));
}

void Progress::Advance(const std::string& arm, int64_t tokens, double seconds) {
  ++done_;
  const Clock::time_point now = Clock::now();
  if (!terminal_ && now - shown_ < kBetweenLines && done_ < total_) return;
  shown_ = now;
  const std::string line = Line(arm, seconds > 0 ? static_cast<double>(tokens) / seconds : 0);
  std::fprintf(stderr, terminal_ ? "\r%s\x1b[K" : "%s\n", line.c_str());
  std::fflush(stderr);
}

void Progress::Finish() {
  if (terminal_ && done_ > done_before_) std::fputc('\n', stderr);
}

ShareProgress::ShareProgress(std::string name)
    : name_(std::move(name)), terminal_(isatty(STDERR_FILENO) == 1) {}

void ShareProgress::Show(double done) {
  const Clock::time_point now = Clock::now();
  if (now - shown_ < (terminal_ ? std::chrono::seconds(1) : kBetweenLines)) return;
  shown_ = now;
  shown_once_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = done > 0 ? elapsed / done * (1 - done) : 0;
  const std::string line = absl::StrFormat("%s %.0f %%  %s left", name_, 100 * done, DurationText(left));
  std::fprintf(stderr, terminal_ ? "\r%s\x1b[K" : "%s\n", line.c_str());
  std::fflush(stderr);
}

void ShareProgress::Finish() {
  if (terminal_ && shown_once_) std::fputc('\n', stderr);
}

}  // namespace forerun
