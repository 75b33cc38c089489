// DySpec: a heap of places, one for the next child of each node.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "drafters/trees/tree_growth.h"

namespace forerun {
namespace {

class DySpecGrowth final : public TreeGrowth {
 public:
  DySpecGrowth(DraftTask& task, int max_depth, ChildSampling sampling)
      : task_(task), max_depth_(max_depth), sampling_(sampling) {}

  Wish wish() const override {
    if (draws()) return {WantedOutput::kFull, 0};
    return {WantedForBest(*task_.sampling, task_.budget, /*scored=*/true), task_.budget};
  }

  std::vector<TreeRow> Grow(std::span<const RowOutput> outputs) override {
    for (std::size_t i = 0; i < outputs.size(); ++i) TakeIn(reading_[i], outputs[i]);
    reading_.clear();
    while (!places_.empty() && left() > 0) {
      if (!nodes_[places_.front().node].known) return ReadWhatMayCome();
      std::pop_heap(places_.begin(), places_.end());
      const Place place = places_.back();
      places_.pop_back();
      AddNextChild(place.node);
    }
    return {};
  }

 private:
  // The next child of a node. Of a known one, `value` is what that child is worth (greedy) or what is left
  // for all further ones (draws); of one that was not read, the node's reach, which is no less.
  struct Place {
    double value;
    int node;
    friend bool operator<(const Place& a, const Place& b) {  // ties: the earlier node comes first
      return std::tie(a.value, b.node) < std::tie(b.value, a.node);
    }
  };
  struct Node {
    double reach = 1;
    bool known = false;
    int row = -1;
    std::vector<ScoredChild> children = {};  // in order; those not added yet from `next` on
    std::size_t next = 0;
    double mass = 1;  // draws: what the children so far have left of q
    Distribution q = {};
  };

  bool draws() const { return Draws(sampling_, *task_.sampling); }
  int left() const { return task_.budget - task_.tree->num_drafted(); }

  void TakeIn(int index, const RowOutput& output) {
    Node& node = nodes_[index];
    node.known = true;
    if (draws()) {
      node.q = DraftDistribution(task_, index, output);
      for (const TokenId token : RaceOrder(node.q, ChildRaceKey(task_, index), left())) {
        node.children.push_back({token, std::log(node.q[token])});
      }
    } else {
      node.children = BestChildren(task_, task_.tree->PathTokens(index), output, left());
    }
    std::erase_if(places_, [index](const Place& place) { return place.node == index; });
    std::make_heap(places_.begin(), places_.end());
    Wait(index);
  }

  // The node's next child waits for its turn.
  void Wait(int index) {
    const Node& node = nodes_[index];
    if (node.known && node.next == node.children.size()) return;
    double value = node.reach;
    if (node.known) value *= draws() ? node.mass : std::exp(node.children[node.next].log_prob);
    places_.push_back({value, index});
    std::push_heap(places_.begin(), places_.end());
  }

  void AddNextChild(int index) {
    const ScoredChild child = nodes_[index].children[nodes_[index].next++];
    const double probability = std::exp(child.log_prob);
    const int added = task_.tree->Add(index, child.token);
    if (draws() && nodes_[index].next == 1) {
      task_.tree->SetProposal(index, Proposal::kSampledWithoutReplacement, nodes_[index].q);
    }
    nodes_.push_back({.reach = nodes_[index].reach * probability});
    nodes_[index].mass = std::max(0.0, nodes_[index].mass - probability);
    Wait(index);
    if (task_.tree->node(added).depth < max_depth_) Wait(added);
  }

  // Places only fall in rank, so what is not among the first `left()` now does not get its turn.
  std::vector<TreeRow> ReadWhatMayCome() {
    std::vector<Place> first = places_;
    std::sort(first.rbegin(), first.rend());
    if (static_cast<int>(first.size()) > left()) first.resize(left());
    for (const Place& place : first) {
      if (!nodes_[place.node].known) reading_.push_back(place.node);
    }
    std::sort(reading_.begin(), reading_.end());
    std::vector<TreeRow> rows;
    for (const int index : reading_) {
      const TokenTree::Node& node = task_.tree->node(index);
      rows.push_back({node.token, nodes_[node.parent].row});
      nodes_[index].row = num_rows_++;
    }
    return rows;
  }

  DraftTask& task_;
  int max_depth_;
  ChildSampling sampling_;
  std::vector<Node> nodes_ = {{}};        // [tree]
  std::vector<Place> places_ = {{1, 0}};  // a heap, the best on top
  std::vector<int> reading_ = {0};        // whose outputs come next
  int num_rows_ = 0;
};

}  // namespace

std::unique_ptr<TreeGrowth> GrowDySpec(DraftTask& task, int max_depth, ChildSampling sampling) {
  return std::make_unique<DySpecGrowth>(task, max_depth, sampling);
}

}  // namespace forerun
