#include "experiments/run/schedule.h"

#include <algorithm>

namespace forerun {
namespace {

std::vector<ScheduledRun> RunsOfBlock(const std::vector<int>& others, int rotation, int baseline,
                                      Bracket bracket) {
  std::vector<ScheduledRun> runs = {{.arm = baseline}};
  int repetition = 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const int arm = others[(i + static_cast<std::size_t>(rotation)) % others.size()];
    runs.push_back({.arm = arm, .baseline_before = repetition, .baseline_after = repetition + 1});
    const bool last = i + 1 == others.size();
    if (last || bracket == Bracket::kArm) runs.push_back({.arm = baseline, .repetition = ++repetition});
  }
  return runs;
}

}  // namespace

std::vector<ScheduledBlock> MakeSchedule(int num_prompts, int num_arms, int baseline, Bracket bracket,
                                         int concurrency) {
  std::vector<int> others;
  for (int arm = 0; arm < num_arms; ++arm) {
    if (arm != baseline) others.push_back(arm);
  }
  std::vector<ScheduledBlock> blocks;
  for (int first = 0; first < num_prompts; first += concurrency) {
    const int rotation = static_cast<int>(blocks.size());
    blocks.push_back({.first_prompt = first,
                      .num_prompts = std::min(concurrency, num_prompts - first),
                      .runs = RunsOfBlock(others, rotation, baseline, bracket)});
  }
  return blocks;
}

}  // namespace forerun
