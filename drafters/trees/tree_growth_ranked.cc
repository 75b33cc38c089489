// EAGLE-2 and OPT-Tree: all children that the levels read so far offer, ranked by the probability of their
// path.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "drafters/trees/tree_growth.h"

namespace forerun {
namespace {

class RankedGrowth final : public TreeGrowth {
 public:
  RankedGrowth(DraftTask& task, const RankedTreeOptions& options)
      : task_(task), options_(options), top_k_(options.top_k == 0 ? task.budget : options.top_k) {}

  Wish wish() const override { return {WantedForBest(*task_.sampling, top_k_, /*scored=*/true), top_k_}; }

  std::vector<TreeRow> Grow(std::span<const RowOutput> outputs) override {
    const int old = static_cast<int>(offered_.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) Offer(level_[i], outputs[i]);
    std::vector<int> kept = Likeliest(task_.budget);
    const double value = ExpectedAccepted(kept);
    const bool stops = ++depth_ >= options_.max_depth || value - value_ <= options_.threshold;
    value_ = value;
    level_.clear();
    std::vector<TreeRow> rows;
    if (!stops) {
      // What falls outside the budget now has no descendant inside it later: not worth reading.
      for (const int index : kept) {
        if (index < old || static_cast<int>(rows.size()) == top_k_) continue;
        Node& node = offered_[index];
        rows.push_back({node.token, node.parent < 0 ? -1 : offered_[node.parent].row});
        level_.push_back(index);
        node.row = num_rows_++;
      }
    }
    if (rows.empty()) Finish(std::move(kept));
    return rows;
  }

 private:
  struct Node {
    TokenId token;
    int parent;        // among the offered; -1: the root
    double log_reach;  // of the path from the root
    int row;           // in the reader; -1: not read
  };

  void Offer(int parent, const RowOutput& output) {
    const double reach = parent < 0 ? 0 : offered_[parent].log_reach;
    for (const ScoredChild& child : BestChildren(task_, PathTo(parent), output, top_k_)) {
      offered_.push_back({child.token, parent, reach + child.log_prob, -1});
    }
  }

  std::vector<TokenId> PathTo(int node) const {
    std::vector<TokenId> path;
    for (; node >= 0; node = offered_[node].parent) path.push_back(offered_[node].token);
    std::reverse(path.begin(), path.end());
    return path;
  }

  // Likeliest first; ties: offered earlier. No path is likelier than its beginning, so parents are among
  // them.
  std::vector<int> Likeliest(int count) const {
    std::vector<int> order(offered_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto end = order.begin() + std::min<std::size_t>(count, order.size());
    std::partial_sort(order.begin(), end, order.end(), [this](int a, int b) {
      const double reach_a = offered_[a].log_reach, reach_b = offered_[b].log_reach;
      return reach_a != reach_b ? reach_a > reach_b : a < b;
    });
    order.erase(end, order.end());
    return order;
  }

  double ExpectedAccepted(std::span<const int> nodes) const {
    double sum = 0;
    for (const int node : nodes) sum += std::exp(offered_[node].log_reach);
    return sum;
  }

  void Finish(std::vector<int> kept) {
    std::sort(kept.begin(), kept.end());  // in the order offered: parents first, siblings by rank
    std::vector<int> in_tree(offered_.size(), -1);
    for (const int index : kept) {
      const int parent = offered_[index].parent;
      in_tree[index] = task_.tree->Add(parent < 0 ? 0 : in_tree[parent], offered_[index].token);
    }
  }

  DraftTask& task_;
  RankedTreeOptions options_;
  int top_k_;
  std::vector<Node> offered_;
  std::vector<int> level_ = {-1};  // whose outputs come next; -1: the root
  int num_rows_ = 0;
  int depth_ = 0;
  double value_ = 0;
};

}  // namespace

std::unique_ptr<TreeGrowth> GrowRanked(DraftTask& task, const RankedTreeOptions& options) {
  return std::make_unique<RankedGrowth>(task, options);
}

}  // namespace forerun
