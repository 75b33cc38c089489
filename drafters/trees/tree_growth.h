// How the tree of one round grows while a model reads it. Each kind of tree asks for the rows whose
// successors it needs, a level or more at a time, and writes task.tree.
#pragma once

#include <memory>
#include <vector>

#include "core/engine/drafter.h"
#include "core/tree/tree_shape.h"
#include "drafters/trees/tree_children.h"
#include "drafters/trees/tree_reader.h"

namespace forerun {

class TreeGrowth {
 public:
  struct Wish {
    WantedOutput wanted;
    int top_k;
  };

  virtual ~TreeGrowth() = default;
  virtual Wish wish() const = 0;  // of every row
  // `outputs`: of the root the first time, then of the rows asked for last, in their order. The rows to read
  // next; none: the tree is done.
  virtual std::vector<TreeRow> Grow(std::span<const RowOutput> outputs) = 0;
};

// A chain as long as the budget. It ends before a token where the model gives its best one less than
// `min_confidence`: decided on the distribution, before a draw, so that proposals keep their law.
std::unique_ptr<TreeGrowth> GrowChain(DraftTask& task, ChildSampling sampling, double min_confidence);

// A form that was fixed before, with no more nodes than the budget.
// Children that the model has no token for are left out, with what would follow them.
std::unique_ptr<TreeGrowth> GrowShape(DraftTask& task, TreeShape shape, ChildSampling sampling);

// EAGLE-2 (Li et al. 2024, arXiv:2406.16858): each level reads the `top_k` likeliest nodes of the level
// before, each of which offers its `top_k` best tokens; of all offered, the likeliest paths fill the budget.
// OPT-Tree (Wang et al. 2024, arXiv:2406.17276) is the same with a top_k as large as the budget, and stops
// where a level has raised the expected number of accepted tokens by no more than `threshold`.
struct RankedTreeOptions {
  int top_k = 10;        // 0: the budget
  int max_depth = 6;     // of a node
  double threshold = 0;  // < 0: never stops for that
};
std::unique_ptr<TreeGrowth> GrowRanked(DraftTask& task, const RankedTreeOptions& options);

// DySpec (Xiong et al. 2024, arXiv:2410.11744): always the place where a token is most likely to be accepted
// next. Greedy children: the place's best remaining token, by the probability of its path. Draws without
// replacement: the place whose reach times remaining mass is greatest gets the next draw. That uses drawn
// tokens to choose later places, never the place that they were drawn for: given all draws before it, each
// one is still a draw from what its elder siblings left, which is all that the recursive rules need.
std::unique_ptr<TreeGrowth> GrowDySpec(DraftTask& task, int max_depth, ChildSampling sampling);

}  // namespace forerun
