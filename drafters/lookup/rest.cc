// REST (He et al. 2023, arXiv:2311.08252): the longest suffix of the context that occurs in a corpus is
// looked up in its suffix array; what follows all its occurrences there forms a trie, of which the heaviest
// nodes are proposed. Keeps nothing but the mapped file; a search is a few logarithms of the corpus.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/lookup/best_first.h"
#include "drafters/lookup/suffix_corpus.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

struct RestOptions {
  int min_match = 2, max_match = 16;
  int depth = 10;
  int branches = 0;  // any number
  std::shared_ptr<const SuffixCorpus> corpus;
};

class RestDrafter final : public Drafter {
 public:
  explicit RestDrafter(const RestOptions& options) : options_(options) {}
  absl::string_view name() const override { return "rest"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  bool chains_only() const override { return options_.branches == 1; }
  std::string note() const override {
    return absl::StrCat("corpus of ", options_.corpus->num_tokens(), " tokens");
  }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<DrafterState>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    using Place = SuffixCorpus::Place;
    for (DraftTask& task : tasks) {
      if (std::min(task.budget, task.max_depth) <= 0) continue;
      const auto matches = options_.corpus->Matches(task.committed, options_.max_match);
      // Some match the end of a text, with nothing behind it: then a shorter one knows more.
      for (const SuffixCorpus::Match& match : matches) {
        if (match.length < options_.min_match) break;
        const GrowthLimits limits = {.nodes = task.budget,
                                     .depth = std::min(task.max_depth, options_.depth),
                                     .branches = options_.branches};
        const std::vector<GrownNode> grown = GrowBestFirst(
            match.place, limits, [&](const Place& place, int) { return options_.corpus->Followers(place); });
        AddGrown(grown, *task.tree);
        if (!grown.empty()) break;
      }
    }
    return absl::OkStatus();
  }

 private:
  RestOptions options_;
};

absl::Status ReadRest(const Json& json, RestOptions* rest) {
  constexpr char kWhere[] = "drafter.rest";
  ObjectReader reader(json, kWhere);
  rest->min_match = static_cast<int>(reader.Int("min_match", rest->min_match, 1, 64));
  rest->max_match = static_cast<int>(reader.Int("max_match", rest->max_match, 1, 64));
  rest->depth = static_cast<int>(reader.Int("depth", rest->depth, 1, 64));
  rest->branches = static_cast<int>(reader.Int("branches", rest->branches, 0, 64));
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  if (rest->min_match <= rest->max_match) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(kWhere, ": expected min_match <= max_match, found ",
                                                 rest->min_match, " and ", rest->max_match));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeRestDrafter(ObjectReader& options,
                                                         const DrafterResources& resources) {
  RestOptions rest;
  if (const Json* own = options.Object("rest")) FORERUN_RETURN_IF_ERROR(ReadRest(*own, &rest));
  FORERUN_ASSIGN_OR_RETURN(rest.corpus, SuffixCorpusOption(options, resources));
  if (rest.corpus == nullptr) {
    return absl::FailedPreconditionError(
        "drafter.corpus: expected a file made by `forerun corpus build --kind suffix_array`, found none");
  }
  return std::make_unique<RestDrafter>(rest);
}

}  // namespace forerun
