// A form that was fixed before the round, filled level by level with the best words or with draws.
#include "drafters/trees/tree_growth.h"

namespace forerun {
namespace {

class ShapeGrowth final : public TreeGrowth {
 public:
  ShapeGrowth(DraftTask& task, TreeShape shape, ChildSampling sampling)
      : task_(task), shape_(std::move(shape)), sampling_(sampling) {
    int next = 1;  // siblings are neighbours, in the order of their parents
    for (int node = 0; node < shape_.size(); ++node) {
      first_child_.push_back(next);
      next += shape_.num_children(node);
      most_children_ = std::max(most_children_, shape_.num_children(node));
    }
  }

  Wish wish() const override {
    if (Draws(sampling_, *task_.sampling)) return {WantedOutput::kFull, 0};
    return {WantedForBest(*task_.sampling, most_children_, /*scored=*/false), most_children_};
  }

  std::vector<TreeRow> Grow(std::span<const RowOutput> outputs) override {
    std::vector<Place> level;
    std::vector<TreeRow> rows;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Place parent = level_[i];
      const int first = task_.tree->size();
      AddChildren(parent, outputs[i]);
      for (int node = first; node < task_.tree->size(); ++node) {
        const int form = first_child_[parent.form] + node - first;
        if (shape_.num_children(form) == 0) continue;
        rows.push_back({task_.tree->node(node).token, parent.row});
        level.push_back({node, form, num_rows_++});
      }
    }
    level_ = std::move(level);
    return rows;
  }

 private:
  struct Place {
    int node;  // in the tree
    int form;  // in the shape
    int row;   // in the reader
  };

  void AddChildren(const Place& parent, const RowOutput& output) {
    const int count = shape_.num_children(parent.form);
    if (Draws(sampling_, *task_.sampling)) {
      AddDrawnChildren(task_, parent.node, sampling_, DraftDistribution(task_, parent.node, output), count);
      return;
    }
    const std::vector<TokenId> path = task_.tree->PathTokens(parent.node);
    for (const ScoredChild& child : BestChildren(task_, path, output, count)) {
      task_.tree->Add(parent.node, child.token);
    }
  }

  DraftTask& task_;
  TreeShape shape_;
  ChildSampling sampling_;
  std::vector<int> first_child_;  // [shape]
  int most_children_ = 0;
  std::vector<Place> level_ = {{0, 0, -1}};  // whose outputs come next
  int num_rows_ = 0;
};

}  // namespace

std::unique_ptr<TreeGrowth> GrowShape(DraftTask& task, TreeShape shape, ChildSampling sampling) {
  return std::make_unique<ShapeGrowth>(task, std::move(shape), sampling);
}

}  // namespace forerun
