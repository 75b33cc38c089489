// Walks through every outcome of a random program, with its probability: the real verification code is run
// once for each way that its coins and draws can fall, so that the law of what it emits is known to rounding.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "core/verify/verifier.h"

namespace forerun {

// One run's choices. Earlier runs' choices are replayed up to the last one that still has an untried branch.
class Branching {
 public:
  // The index of the branch that this run takes; weights sum to the mass here (1 but for rounding). Branches
  // without mass are never taken.
  int Choose(std::span<const double> weights);
  double probability() const { return probability_; }

 private:
  friend void EnumerateRuns(const std::function<void(Branching&)>& run);
  struct Choice {
    int taken = 0;
    std::vector<int> untried;
  };
  bool Advance();

  std::vector<Choice> choices_;
  std::size_t next_ = 0;
  double probability_ = 1;
};

// Calls `run` once for every way that its choices can fall.
void EnumerateRuns(const std::function<void(Branching&)>& run);

// What is known of one key's uniform: it lies in [low, high).
struct UniformRange {
  double low = 0;
  double high = 1;
  friend auto operator<=>(const UniformRange&, const UniformRange&) = default;
};
using UniformKey = std::tuple<uint64_t, int, Purpose>;  // place, node, purpose
using UniformRanges = std::map<UniformKey, UniformRange>;

// Each key has one uniform, as in KeyedRandoms: a coin or a draw narrows the range of its key, so that a key
// used twice is modelled exactly, also across rounds where `ranges` outlives them.
class EnumeratingRandoms final : public Randoms {
 public:
  EnumeratingRandoms(Branching& branching, uint64_t place, UniformRanges& ranges)
      : branching_(branching), place_(place), ranges_(ranges) {}

  bool Coin(int node, double probability) override;
  TokenId Draw(int node, Purpose purpose, const Distribution& p) override;
  // Every position once: that is what makes the draws of plain sampling independent.
  TokenId TargetDraw(int64_t position, const Distribution& p) override;

 private:
  int ChooseInterval(const UniformKey& key, std::span<const double> edges);

  Branching& branching_;
  uint64_t place_;
  UniformRanges& ranges_;
  std::set<int64_t> target_positions_;
};

}  // namespace forerun
