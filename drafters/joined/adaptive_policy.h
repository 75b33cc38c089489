// How `adaptive` decides, for one sequence, which drafter shall draft how much: from what came of the rounds
// before, never from a clock, so that a run replays on any machine.
#pragma once

#include <memory>
#include <span>
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
  // "cost_model": the arm of greatest expected tokens / cost, by the survival estimated for each part, or no
  //   draft at all where none is worth its cost.
  // "bandit": UCB1 on tokens / cost of each arm (BanditSpec; Hou et al. 2025, arXiv:2505.15141).
  std::string method = "cost_model";
  std::vector<int> lengths = {1, 2, 4, 8, 16};  // ascending; arms are parts x lengths
  std::vector<double> draft_costs = {0};        // [parts] of one drafted node, in plain decoding steps
  // Cost of a verification of so many rows, in plain decoding steps: linear in between and beyond.
  std::vector<std::pair<int, double>> verify_cost = {{1, 1}, {17, 2}};
  double threshold = 0.3;
  double explore = 0.5;  // weight of UCB1's bonus
};

constexpr int kNotAsked = -1;  // in place of a number of offered nodes

class AdaptivePolicy {
 public:
  virtual ~AdaptivePolicy() = default;
  // `budget`: at least 1; no arm is longer. `offered` [parts]: nodes that the part has at hand for this
  // round, or kNotAsked.
  virtual DraftArm Choose(int budget, std::span<const int> offered) = 0;
  virtual void Learn(const DraftArm& arm, const DraftOutcome& outcome) = 0;
  // What would have become of an offer, whoever drafted: the first `examined` nodes of it met the text, and
  // the first `stood` of these were the text.
  virtual void LearnOffer(int part, int offered, int examined, int stood);
};

// `options` outlive the policy.
std::unique_ptr<AdaptivePolicy> MakeAdaptivePolicy(const AdaptiveOptions& options);

// Cost of drafting and verifying `nodes`, the root's row included.
double RoundCost(const AdaptiveOptions& options, int part, double nodes);

// How far drafts get: P(the first `length` stand | so many were asked for), with each depth's rate drawn
// towards the rate of all depths, and that towards a rate that is believed beforehand. Old rounds fade.
class SurvivalEstimate {
 public:
  static constexpr double kPriorRate = 0.7;

  void Learn(int asked, const DraftOutcome& outcome);
  void LearnDepths(int examined, int stood);
  void Fade(double factor);
  double Conditional(int depth,
                     double prior = kPriorRate) const;  // of the depth-th, once those before it stand
  double drafted_share() const;                         // of the nodes asked for
  double ExpectedTokens(int length) const;

 private:
  std::vector<double> tried_, stood_;  // by depth - 1
  double all_tried_ = 0, all_stood_ = 0, asked_ = 0, drafted_ = 0;
};

// The same for offers: long ones follow long matches and stand more often, so that each size has its own
// rates, drawn towards those of all sizes.
class OfferEstimate {
 public:
  void Learn(int offered, int examined, int stood);
  void Fade(double factor);
  double ExpectedTokens(int offered, int length) const;

 private:
  static constexpr int kSizes = 5;  // offers of 1, 2-3, 4-7, 8-15, and more nodes
  static int SizeOf(int offered);

  SurvivalEstimate all_, by_size_[kSizes];
};

}  // namespace forerun
