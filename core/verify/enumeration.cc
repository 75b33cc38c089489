#include "core/verify/enumeration.h"

#include <algorithm>

#include "core/base/check.h"

namespace forerun {

int Branching::Choose(std::span<const double> weights) {
  if (next_ == choices_.size()) {
    Choice choice;
    for (int i = static_cast<int>(weights.size()) - 1; i >= 0; --i) {
      if (weights[i] > 0) choice.untried.push_back(i);
    }
    FORERUN_CHECK(!choice.untried.empty());
    choice.taken = choice.untried.back();
    choice.untried.pop_back();
    choices_.push_back(choice);
  }
  const int taken = choices_[next_++].taken;
  probability_ *= weights[taken];
  return taken;
}

bool Branching::Advance() {
  FORERUN_CHECK(next_ == choices_.size());  // a run that replays must ask what it asked before
  while (!choices_.empty() && choices_.back().untried.empty()) choices_.pop_back();
  next_ = 0;
  probability_ = 1;
  if (choices_.empty()) return false;
  choices_.back().taken = choices_.back().untried.back();
  choices_.back().untried.pop_back();
  return true;
}

void EnumerateRuns(const std::function<void(Branching&)>& run) {
  Branching branching;
  do {
    run(branching);
  } while (branching.Advance());
}

// edges: 0 = edges[0] <= edges[1] <= ... <= edges.back() = 1. Which interval holds the key's uniform?
int EnumeratingRandoms::ChooseInterval(const UniformKey& key, std::span<const double> edges) {
  UniformRange& range = ranges_[key];
  std::vector<double> weights;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const double low = std::max(edges[i], range.low), high = std::min(edges[i + 1], range.high);
    weights.push_back(std::max(0.0, high - low) / (range.high - range.low));
  }
  const int taken = branching_.Choose(weights);
  range = {std::max(edges[taken], range.low), std::min(edges[taken + 1], range.high)};
  return taken;
}

bool EnumeratingRandoms::Coin(int node, double probability) {
  FORERUN_CHECK(probability >= 0 && probability <= 1);
  const double edges[] = {0, probability, 1};
  return ChooseInterval({place_, node, Purpose::kAccept}, edges) == 0;
}

TokenId EnumeratingRandoms::Draw(int node, Purpose purpose, const Distribution& p) {
  std::vector<double> edges = {0};
  for (const double probability : p.probabilities())
    edges.push_back(std::min(1.0, edges.back() + probability));
  edges.back() = 1;
  return p.tokens()[ChooseInterval({place_, node, purpose}, edges)];
}

TokenId EnumeratingRandoms::TargetDraw(int64_t position, const Distribution& p) {
  FORERUN_CHECK(target_positions_.insert(position).second);
  return p.tokens()[branching_.Choose(p.probabilities())];
}

}  // namespace forerun
