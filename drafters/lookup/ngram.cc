// Prompt lookup (Saxena 2023; "prompt lookup decoding"): the last n words are looked for earlier in the
// context, the longest n first, the latest occurrence first, and what followed them there is proposed; with
// `branches`, what followed several of those places, as a tree. Keeps nothing; one backward scan of the
// context a round.
#include <algorithm>

#include "core/base/status_macros.h"
#include "drafters/lookup/lookup.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

// The child of `parent` with this token; -1: none.
int FindChild(const TokenTree& tree, int parent, TokenId token) {
  for (const int child : tree.Children(parent)) {
    if (tree.node(child).token == token) return child;
  }
  return -1;
}

// Paths take turns, each adding one node a turn, so that none starves; what they share is there once.
void AddInTurns(std::span<const std::span<const TokenId>> paths, int budget, TokenTree& tree) {
  struct Cursor {
    std::size_t done = 0;
    int node = 0;
  };
  std::vector<Cursor> cursors(paths.size());
  for (bool grew = true; grew && tree.num_drafted() < budget;) {
    grew = false;
    for (std::size_t i = 0; i < paths.size() && tree.num_drafted() < budget; ++i) {
      Cursor& at = cursors[i];
      for (int next = 0; at.done < paths[i].size(); at.node = next, ++at.done) {
        next = FindChild(tree, at.node, paths[i][at.done]);
        if (next < 0) break;
      }
      if (at.done == paths[i].size()) continue;
      at.node = tree.Add(at.node, paths[i][at.done++]);
      grew = true;
    }
  }
}

class NgramDrafter final : public Drafter {
 public:
  NgramDrafter(const LookupRange& range, int branches) : range_(range), branches_(branches) {}
  absl::string_view name() const override { return "ngram"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  bool chains_only() const override { return branches_ == 1; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<DrafterState>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      const int most = std::min(task.budget, task.max_depth);
      if (most <= 0) continue;
      const LookupMatch match = FindLatestMatch(task.committed, range_);
      AddInTurns(Continuations(task.committed, match, most, branches_), task.budget, *task.tree);
    }
    return absl::OkStatus();
  }

 private:
  LookupRange range_;
  int branches_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeNgramDrafter(ObjectReader& options, const DrafterResources&) {
  LookupRange range;
  int branches = 1;
  if (const Json* ngram = options.Object("ngram")) {
    ObjectReader reader(*ngram, "drafter.ngram");
    absl::StatusOr<LookupRange> read = ReadLookupRange(reader, "drafter.ngram", range);
    branches = static_cast<int>(reader.Int("branches", branches, 1, 64));
    FORERUN_RETURN_IF_ERROR(reader.Finish());
    FORERUN_ASSIGN_OR_RETURN(range, std::move(read));
  }
  return std::make_unique<NgramDrafter>(range, branches);
}

}  // namespace forerun
