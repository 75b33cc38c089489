// Token Recycling (Luo et al. 2024, arXiv:2408.08696): the target's best next words after every verified row,
// rejected ones included, are kept by the row's own word, and the next draft is a tree of such successors of
// successors. Cold for each request. A word has the successors of its last row; among rows of one round the
// last in the tree's order counts. The tree has the `budget` nodes of greatest value, the product of the
// acceptance of the ranks on the path; where all successors are known that is one fixed shape for each
// budget. Keeps 4 bytes a successor of the words seen; a draft costs no forward.
#include <algorithm>
#include <cstddef>
#include <queue>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/status_macros.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

constexpr int kMostSuccessors = 32;

struct RecyclingState final : DrafterState {
  absl::flat_hash_map<TokenId, std::vector<TokenId>> successors;  // best first
};

// A node that could be drafted next.
struct Candidate {
  double value = 0;
  int parent = 0;  // index into the nodes chosen so far; 0: the root
  int depth = 0;
  int order = 0;  // of becoming a candidate: decides between equal values, and keeps parents first
  TokenId token = 0;
};
struct LessWorth {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.value != b.value ? a.value < b.value : a.order > b.order;
  }
};

class TokenRecyclingDrafter final : public Drafter {
 public:
  explicit TokenRecyclingDrafter(std::vector<double> acceptance) : acceptance_(std::move(acceptance)) {}

  absl::string_view name() const override { return "token_recycling"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  bool chains_only() const override { return false; }
  int evidence_top_k() const override { return static_cast<int>(acceptance_.size()); }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<RecyclingState>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      auto& state = *static_cast<RecyclingState*>(task.state);
      Learn(task.evidence, state);
      Draft(state, task);
    }
    return absl::OkStatus();
  }

 private:
  void Learn(std::span<const EvidenceRow> evidence, RecyclingState& state) const {
    for (const EvidenceRow& row : evidence) {
      std::vector<TokenId>& successors = state.successors[row.token];
      successors.clear();
      const std::size_t count = std::min(row.top.size(), acceptance_.size());
      for (std::size_t i = 0; i < count; ++i) successors.push_back(row.top[i].token);
    }
  }

  void Draft(const RecyclingState& state, DraftTask& task) const {
    std::vector<Candidate> chosen{{.value = 1, .token = task.committed.back()}};
    std::priority_queue<Candidate, std::vector<Candidate>, LessWorth> open;
    int order = 0;
    for (int node = 0; node <= task.budget; ++node) {
      if (chosen[node].depth < task.max_depth) {
        if (const auto found = state.successors.find(chosen[node].token); found != state.successors.end()) {
          for (std::size_t rank = 0; rank < found->second.size(); ++rank) {
            open.push({.value = chosen[node].value * acceptance_[rank],
                       .parent = node,
                       .depth = chosen[node].depth + 1,
                       .order = ++order,
                       .token = found->second[rank]});
          }
        }
      }
      if (node == task.budget || open.empty()) break;
      chosen.push_back(open.top());
      open.pop();
    }
    AddByLevels(chosen, *task.tree);
  }

  static void AddByLevels(const std::vector<Candidate>& chosen, TokenTree& tree) {
    std::vector<int> order(chosen.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return chosen[a].depth < chosen[b].depth; });
    std::vector<int> nodes(chosen.size(), 0);  // of the tree
    for (const int index : std::span(order).subspan(1)) {
      nodes[index] = tree.Add(nodes[chosen[index].parent], chosen[index].token);
    }
  }

  std::vector<double> acceptance_;  // [ranks], falling
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeTokenRecyclingDrafter(ObjectReader& options,
                                                                   const DrafterResources&) {
  // A power law whose 80 best nodes lie in levels of 8, 21, 25, 18, 6, 1 and 1: about the paper's tree.
  std::vector<double> acceptance = {0.45, 0.129, 0.062, 0.037, 0.025, 0.018, 0.014, 0.011};
  if (const Json* own = options.Object("token_recycling")) {
    ObjectReader reader(*own, "drafter.token_recycling");
    if (reader.Has("acceptance")) {
      acceptance = reader.Numbers("acceptance", 1e-6, 1);
      const bool falls = std::is_sorted(acceptance.rbegin(), acceptance.rend());
      if (acceptance.empty() || acceptance.size() > kMostSuccessors || !falls)
        reader.Fail("acceptance", "1 to 32 numbers, none above the one before");
    }
    FORERUN_RETURN_IF_ERROR(reader.Finish());
  }
  return std::make_unique<TokenRecyclingDrafter>(std::move(acceptance));
}

}  // namespace forerun
