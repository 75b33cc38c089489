#include "experiments/run/schedule.h"

#include <set>
#include <string>
#include <tuple>

#include "gtest/gtest.h"

namespace forerun {
namespace {

// "B0 1 2 B1": arm by number, the baseline with its repetition.
std::string Order(const ScheduledBlock& block, int baseline) {
  std::string text;
  for (const ScheduledRun& run : block.runs) {
    text += text.empty() ? "" : " ";
    text += run.arm == baseline ? "B" : "";
    text += std::to_string(run.arm == baseline ? run.repetition : run.arm);
  }
  return text;
}

TEST(Schedule, BracketsEachPromptAndRotates) {
  const auto blocks = MakeSchedule(4, 4, /*baseline=*/0, Bracket::kPrompt, 1);
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(Order(blocks[0], 0), "B0 1 2 3 B1");
  EXPECT_EQ(Order(blocks[1], 0), "B0 2 3 1 B1");
  EXPECT_EQ(Order(blocks[2], 0), "B0 3 1 2 B1");
  EXPECT_EQ(Order(blocks[3], 0), "B0 1 2 3 B1");
}

TEST(Schedule, BracketsEachArm) {
  const auto blocks = MakeSchedule(2, 3, /*baseline=*/1, Bracket::kArm, 1);
  EXPECT_EQ(Order(blocks[0], 1), "B0 0 B1 2 B2");
  EXPECT_EQ(Order(blocks[1], 1), "B0 2 B1 0 B2");
  EXPECT_EQ(blocks[0].runs[3].baseline_before, 1);
  EXPECT_EQ(blocks[0].runs[3].baseline_after, 2);
}

TEST(Schedule, OnlyTheBaselineRunsOnce) {
  const auto blocks = MakeSchedule(2, 1, 0, Bracket::kPrompt, 1);
  EXPECT_EQ(Order(blocks[0], 0), "B0");
}

TEST(Schedule, ConcurrentPromptsShareABlock) {
  const auto blocks = MakeSchedule(5, 2, 0, Bracket::kPrompt, 2);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[2].first_prompt, 4);
  EXPECT_EQ(blocks[2].num_prompts, 1);
}

// For every shape: each (prompt, arm) once, baseline repetitions numbered without gaps, and each other arm
// between the two baseline runs that it names.
TEST(Schedule, PropertiesHoldForAllShapes) {
  for (int arms = 1; arms <= 5; ++arms) {
    for (int baseline = 0; baseline < arms; ++baseline) {
      for (const Bracket bracket : {Bracket::kPrompt, Bracket::kArm}) {
        for (const int concurrency : {1, 3}) {
          int prompts_seen = 0;
          for (const ScheduledBlock& block : MakeSchedule(7, arms, baseline, bracket, concurrency)) {
            EXPECT_EQ(block.first_prompt, prompts_seen);
            prompts_seen += block.num_prompts;
            std::set<int> others;
            int last_baseline = -1;
            for (std::size_t i = 0; i < block.runs.size(); ++i) {
              const ScheduledRun& run = block.runs[i];
              if (run.arm == baseline) {
                EXPECT_EQ(run.repetition, ++last_baseline);
                EXPECT_EQ(run.baseline_before, -1);
                continue;
              }
              EXPECT_TRUE(others.insert(run.arm).second);
              EXPECT_EQ(run.baseline_before, last_baseline);
              EXPECT_EQ(run.baseline_after, last_baseline + 1);
            }
            EXPECT_EQ(static_cast<int>(others.size()), arms - 1);
            EXPECT_EQ(block.runs.back().arm, baseline);
          }
          EXPECT_EQ(prompts_seen, 7);
        }
      }
    }
  }
}

}  // namespace
}  // namespace forerun
