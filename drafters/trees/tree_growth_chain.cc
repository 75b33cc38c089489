// A chain, a token a row.
#include <optional>

#include "drafters/reading/greedy_choice.h"
#include "drafters/trees/tree_growth.h"

namespace forerun {
namespace {

class ChainGrowth final : public TreeGrowth {
 public:
  ChainGrowth(DraftTask& task, ChildSampling sampling, double min_confidence)
      : task_(task), sampling_(sampling), min_confidence_(min_confidence) {}

  Wish wish() const override {
    return {draws() ? WantedOutput::kFull : WantedForGreedy(*task_.sampling, min_confidence_), 0};
  }
  std::vector<TreeRow> Grow(std::span<const RowOutput> outputs) override {
    TokenTree& tree = *task_.tree;
    const int last = tree.num_drafted();
    Extend(last, outputs[0]);
    if (tree.num_drafted() == last || tree.num_drafted() == task_.budget) return {};
    return {{tree.node(last + 1).token, last - 1}};
  }

 private:
  bool draws() const { return Draws(sampling_, *task_.sampling); }
  void Extend(int last, const RowOutput& output) {
    if (draws()) {
      if (min_confidence_ > 0 && BestProbability(output.logits) < min_confidence_) return;
      return AddDrawnChildren(task_, last, sampling_, DraftDistribution(task_, last, output), 1);
    }
    const std::optional<TokenId> best =
        GreedyChoice(task_, task_.tree->PathTokens(last), output, min_confidence_);
    if (best) task_.tree->Add(last, *best);
  }

  DraftTask& task_;
  ChildSampling sampling_;
  double min_confidence_;
};

}  // namespace

std::unique_ptr<TreeGrowth> GrowChain(DraftTask& task, ChildSampling sampling, double min_confidence) {
  return std::make_unique<ChainGrowth>(task, sampling, min_confidence);
}

}  // namespace forerun
