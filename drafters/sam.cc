// SAM-Decoding (Hu et al. 2024, arXiv:2411.10666): a suffix automaton of the request's own text always knows
// the longest suffix that occurred before; what followed its latest occurrence is copied, or the most
// frequent way on from there is walked. The longer the match, the longer the draft. Cost: amortised constant
// a token.
#include <algorithm>
#include <cmath>

#include "core/base/status_macros.h"
#include "drafters/registry.h"
#include "drafters/suffix_automaton.h"

namespace forerun {
namespace {

struct SamOptions {
  int min_match = 2;
  double factor = 4;  // a match of m tokens drafts at most 1 + factor m
  bool frequent = false;
};

struct SamState final : DrafterState {
  SuffixAutomaton own;
};

class SamDrafter final : public Drafter {
 public:
  explicit SamDrafter(const SamOptions& options) : options_(options) {}
  absl::string_view name() const override { return "sam"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<SamState>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      SuffixAutomaton& own = static_cast<SamState*>(task.state)->own;
      own.Follow(task.committed);
      const SuffixAutomaton::Repeat repeat = own.repeat();
      if (repeat.length < options_.min_match) continue;
      Copy(own, own.link(own.last()), repeat, task);
    }
    return absl::OkStatus();
  }

 private:
  void Copy(const SuffixAutomaton& automaton, SuffixAutomaton::State state,
            const SuffixAutomaton::Repeat& match, DraftTask& task) const {
    const double longest = 1 + std::floor(options_.factor * match.length);
    const int most = static_cast<int>(std::min<double>(longest, std::min(task.budget, task.max_depth)));
    for (int i = 0; i < most; ++i) {
      TokenId token = SuffixAutomaton::kEndOfText;
      if (!options_.frequent) {
        const std::size_t place = static_cast<std::size_t>(match.end) + i;
        if (place < automaton.tokens().size()) token = automaton.tokens()[place];
      } else if (const auto followers = automaton.Followers(state); !followers.empty()) {
        token = followers[0].token;
        state = followers[0].place;
      }
      if (token == SuffixAutomaton::kEndOfText) return;
      task.tree->Add(task.tree->size() - 1, token);
    }
  }

  SamOptions options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeSamDrafter(ObjectReader& options, const DrafterResources&) {
  SamOptions sam;
  if (const Json* own = options.Object("sam")) {
    ObjectReader reader(*own, "drafter.sam");
    sam.min_match = static_cast<int>(reader.Int("min_match", sam.min_match, 1, 1 << 20));
    sam.factor = reader.Number("factor", sam.factor, 0, 1024);
    sam.frequent = reader.Choice("continuation", "latest", {"latest", "frequent"}) == "frequent";
    FORERUN_RETURN_IF_ERROR(reader.Finish());
  }
  return std::make_unique<SamDrafter>(sam);
}

}  // namespace forerun
