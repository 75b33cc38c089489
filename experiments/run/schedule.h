// The order in which an experiment runs: every arm over every prompt, interleaved, so that a machine that
// warms up or slows down meets all arms alike. Pure.
#pragma once

#include <vector>

#include "experiments/config/config.h"

namespace forerun {

// One arm over one block of prompts, once.
struct ScheduledRun {
  int arm = 0;
  int repetition = 0;  // 0, 1, ... for the baseline; 0 for the others
  // Repetitions of the baseline just before and after it; -1 for the baseline itself and where there is no
  // other arm.
  int baseline_before = -1;
  int baseline_after = -1;
};

// Prompts [first, first + count) run together: count > 1 only where the config's concurrency is.
struct ScheduledBlock {
  int first_prompt = 0;
  int num_prompts = 0;
  std::vector<ScheduledRun> runs;
};

// Arms other than the baseline are rotated by one from block to block. kPrompt: B a b c B. kArm: B a B b B c
// B.
std::vector<ScheduledBlock> MakeSchedule(int num_prompts, int num_arms, int baseline, Bracket bracket,
                                         int concurrency);

}  // namespace forerun
