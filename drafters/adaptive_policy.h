// How `adaptive` decides, for one sequence, which drafter shall draft how much: from what came of the rounds
// before, never from a clock, so that a run replays on any machine.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace forerun {

struct DraftArm {
  int part = 0;
  int length = 0;  // most nodes
};

struct DraftOutcome {
  int drafted = 0;
  int accepted = 0;
};

struct AdaptiveOptions {
  // "heuristic": the length grows by 2 after a draft that stood whole, else shrinks by 1 (transformers).
  // "confidence": as long as a draft of that length stands with at least the probability `threshold`.
  // "cost_model": the arm of greatest expected tokens / cost, by the survival estimated for each part.
  // "bandit": UCB1 on tokens / cost of each arm (BanditSpec; Hou et al. 2025, arXiv:2505.15141).
  std::string method = "cost_model";
  std::vector<int> lengths = {1, 2, 4, 8, 16};  // ascending; arms are parts x lengths
  std::vector<double> draft_costs = {0};        // [parts] of one drafted node, in plain decoding steps
  // Cost of a verification of so many rows, in plain decoding steps: linear in between and beyond.
  std::vector<std::pair<int, double>> verify_cost = {{1, 1}, {17, 2}};
  double threshold = 0.3;
  double explore = 0.5;  // weight of UCB1's bonus
};

class AdaptivePolicy {
 public:
  virtual ~AdaptivePolicy() = default;
  // `budget`: at least 1; no arm is longer.
  virtual DraftArm Choose(int budget) = 0;
  virtual void Learn(const DraftArm& arm, const DraftOutcome& outcome) = 0;
};

// `options` outlive the policy.
std::unique_ptr<AdaptivePolicy> MakeAdaptivePolicy(const AdaptiveOptions& options);

// Cost of drafting and verifying `nodes`, the root's row included.
double RoundCost(const AdaptiveOptions& options, int part, double nodes);

// How far drafts of one part get: P(the first `length` stand | so many were asked for), with each depth's
// rate drawn towards the rate of all depths, and that towards 0.7.
class SurvivalEstimate {
 public:
  void Learn(int asked, const DraftOutcome& outcome);
  double Conditional(int depth) const;  // of the depth-th, once those before it stand
  double drafted_share() const;         // of the nodes asked for
  double ExpectedTokens(int length) const;

 private:
  std::vector<double> tried_, stood_;  // by depth - 1
  double all_tried_ = 0, all_stood_ = 0, asked_ = 0, drafted_ = 0;
};

}  // namespace forerun
