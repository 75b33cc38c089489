#include "drafters/joined/adaptive_policy.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/check.h"

namespace forerun {
namespace {

constexpr double kPriorWeight = 2;
constexpr double kFade = 0.99;  // of what is known, a round: a text changes
// What a draft that must be paid for has to promise: of several estimates the best one is likely too good.
constexpr double kMargin = 1.05;

// Arms in order of part, then length; those longer than the budget are cut to it, once.
std::vector<DraftArm> ArmsWithin(const AdaptiveOptions& options, int budget) {
  std::vector<DraftArm> arms;
  for (int part = 0; part < static_cast<int>(options.draft_costs.size()); ++part) {
    for (const int length : options.lengths) {
      arms.push_back({part, std::min(length, budget)});
      if (length >= budget) break;
    }
  }
  return arms;
}

class Heuristic final : public AdaptivePolicy {
 public:
  DraftArm Choose(int budget, std::span<const int>) override { return {0, std::min(length_, budget)}; }
  void Learn(const DraftArm& arm, const DraftOutcome& outcome) override {
    const bool whole = outcome.drafted > 0 && outcome.accepted == outcome.drafted;
    length_ = whole ? std::max(length_, arm.length + 2) : std::max(1, length_ - 1);
  }

 private:
  int length_ = 5;
};

class Confidence final : public AdaptivePolicy {
 public:
  explicit Confidence(const AdaptiveOptions& options) : options_(options) {}
  DraftArm Choose(int budget, std::span<const int>) override {
    int length = 1;
    double survival = estimate_.Conditional(1);
    while (length < budget) {
      survival *= estimate_.Conditional(length + 1);
      if (survival < options_.threshold) break;
      ++length;
    }
    return {0, length};
  }
  void Learn(const DraftArm& arm, const DraftOutcome& outcome) override {
    estimate_.Learn(arm.length, outcome);
  }

 private:
  const AdaptiveOptions& options_;
  SurvivalEstimate estimate_;
};

class CostModel final : public AdaptivePolicy {
 public:
  explicit CostModel(const AdaptiveOptions& options)
      : options_(options), drafts_(options.draft_costs.size()), offers_(options.draft_costs.size()) {}

  DraftArm Choose(int budget, std::span<const int> offered) override {
    for (SurvivalEstimate& estimate : drafts_) estimate.Fade(kFade);
    for (OfferEstimate& estimate : offers_) estimate.Fade(kFade);
    DraftArm best;
    double best_rate = 1 / RoundCost(options_, 0, 0);
    for (const DraftArm& arm : ArmsWithin(options_, budget)) {
      const DraftArm cut = {arm.part, AtHand(arm, offered)};
      const double rate = Rate(cut, offered[arm.part]);
      if (rate <= best_rate) continue;
      best_rate = rate;
      best = cut;
    }
    return best;
  }
  void Learn(const DraftArm& arm, const DraftOutcome& outcome) override {
    drafts_[arm.part].Learn(arm.length, outcome);
  }
  void LearnOffer(int part, int offered, int examined, int stood) override {
    offers_[part].Learn(offered, examined, stood);
  }

 private:
  static int AtHand(const DraftArm& arm, std::span<const int> offered) {
    return offered[arm.part] == kNotAsked ? arm.length : std::min(arm.length, offered[arm.part]);
  }
  double Rate(const DraftArm& arm, int offered) const {
    if (offered != kNotAsked) {
      return offers_[arm.part].ExpectedTokens(offered, arm.length) /
             RoundCost(options_, arm.part, arm.length);
    }
    const SurvivalEstimate& estimate = drafts_[arm.part];
    return estimate.ExpectedTokens(arm.length) /
           (kMargin * RoundCost(options_, arm.part, arm.length * estimate.drafted_share()));
  }

  const AdaptiveOptions& options_;
  std::vector<SurvivalEstimate> drafts_;  // [parts] of what was asked for
  std::vector<OfferEstimate> offers_;     // [parts] of what was at hand
};

class Bandit final : public AdaptivePolicy {
 public:
  explicit Bandit(const AdaptiveOptions& options) : options_(options) {}
  DraftArm Choose(int budget, std::span<const int>) override {
    DraftArm best;
    double best_bound = -1;
    for (const DraftArm& arm : ArmsWithin(options_, budget)) {
      const Seen& seen = SeenOf(arm);
      if (seen.rounds == 0) return arm;
      const double bound =
          seen.rate_sum / seen.rounds +
          options_.explore * std::sqrt(2 * std::log(static_cast<double>(rounds_)) / seen.rounds);
      if (bound <= best_bound) continue;
      best_bound = bound;
      best = arm;
    }
    return best;
  }
  void Learn(const DraftArm& arm, const DraftOutcome& outcome) override {
    Seen& seen = SeenOf(arm);
    ++rounds_;
    ++seen.rounds;
    seen.rate_sum += (1 + outcome.accepted) / RoundCost(options_, arm.part, outcome.drafted);
  }

 private:
  struct Seen {
    DraftArm arm;
    int rounds = 0;
    double rate_sum = 0;
  };
  Seen& SeenOf(const DraftArm& arm) {
    for (Seen& seen : seen_) {
      if (seen.arm.part == arm.part && seen.arm.length == arm.length) return seen;
    }
    return seen_.emplace_back(Seen{.arm = arm});
  }

  const AdaptiveOptions& options_;
  std::vector<Seen> seen_;
  int rounds_ = 0;
};

}  // namespace

std::unique_ptr<AdaptivePolicy> MakeAdaptivePolicy(const AdaptiveOptions& options) {
  if (options.method == "heuristic") return std::make_unique<Heuristic>();
  if (options.method == "confidence") return std::make_unique<Confidence>(options);
  if (options.method == "bandit") return std::make_unique<Bandit>(options);
  FORERUN_CHECK(options.method == "cost_model");
  return std::make_unique<CostModel>(options);
}

double RoundCost(const AdaptiveOptions& options, int part, double nodes) {
  const auto& curve = options.verify_cost;
  const double rows = nodes + 1;
  std::size_t end = 1;
  while (end + 1 < curve.size() && curve[end].first < rows) ++end;
  const auto& [from, from_cost] = curve[end - 1];
  const auto& [to, to_cost] = curve[end];
  return from_cost + (rows - from) / (to - from) * (to_cost - from_cost) + options.draft_costs[part] * nodes;
}

void AdaptivePolicy::LearnOffer(int, int, int, int) {}

void SurvivalEstimate::Learn(int asked, const DraftOutcome& outcome) {
  LearnDepths(std::min(asked, outcome.accepted + 1), outcome.accepted);
  asked_ += asked;
  drafted_ += outcome.drafted;
}

void SurvivalEstimate::LearnDepths(int examined, int stood) {
  if (static_cast<int>(tried_.size()) < examined) {
    tried_.resize(examined);
    stood_.resize(examined);
  }
  for (int depth = 1; depth <= examined; ++depth) {
    tried_[depth - 1] += 1;
    stood_[depth - 1] += depth <= stood;
  }
  all_tried_ += examined;
  all_stood_ += std::min(examined, stood);
}

void SurvivalEstimate::Fade(double factor) {
  for (double& value : tried_) value *= factor;
  for (double& value : stood_) value *= factor;
  for (double* value : {&all_tried_, &all_stood_, &asked_, &drafted_}) *value *= factor;
}

double SurvivalEstimate::Conditional(int depth, double prior) const {
  const double all = (all_stood_ + kPriorWeight * prior) / (all_tried_ + kPriorWeight);
  if (depth > static_cast<int>(tried_.size())) return all;
  return (stood_[depth - 1] + kPriorWeight * all) / (tried_[depth - 1] + kPriorWeight);
}

double SurvivalEstimate::drafted_share() const { return (drafted_ + kPriorWeight) / (asked_ + kPriorWeight); }

double SurvivalEstimate::ExpectedTokens(int length) const {
  double tokens = 1, survival = 1;
  for (int depth = 1; depth <= length; ++depth) {
    survival *= Conditional(depth);
    tokens += survival;
  }
  return tokens;
}

int OfferEstimate::SizeOf(int offered) {
  return std::min(static_cast<int>(std::bit_width(static_cast<unsigned>(offered))), kSizes) - 1;
}

void OfferEstimate::Learn(int offered, int examined, int stood) {
  if (offered == 0) return;
  all_.LearnDepths(examined, stood);
  by_size_[SizeOf(offered)].LearnDepths(examined, stood);
}

void OfferEstimate::Fade(double factor) {
  all_.Fade(factor);
  for (SurvivalEstimate& estimate : by_size_) estimate.Fade(factor);
}

double OfferEstimate::ExpectedTokens(int offered, int length) const {
  double tokens = 1, survival = 1;
  for (int depth = 1; depth <= length; ++depth) {
    survival *= by_size_[SizeOf(offered)].Conditional(depth, all_.Conditional(depth));
    tokens += survival;
  }
  return tokens;
}

}  // namespace forerun
