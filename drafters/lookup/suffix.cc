// SuffixDecoding (Oliaro et al. 2024, arXiv:2411.04975): every suffix of the context that occurred before is
// tried; what followed its occurrences is grown into a draft, by count ratios, the longer the more was
// matched; the draft with the most expected accepted tokens is proposed. Looked up in the request's own text
// (a suffix automaton, exact counts), in what finished requests wrote where it may learn, and in a corpus. An
// own draft wins a tie. Cost: amortised constant a token, and a growth for each suffix tried.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/lookup/best_first.h"
#include "drafters/lookup/learned_texts.h"
#include "drafters/lookup/suffix_automaton.h"
#include "drafters/lookup/suffix_corpus.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

struct SuffixOptions {
  int min_match = 1;
  int max_match = 64;
  double factor = 1;  // a match of m tokens drafts at most factor m + offset
  double offset = 0;
  double min_probability = 0.1;  // of a path
  int branches = 1;              // 0: any number
  bool learn = false;
  int64_t learn_tokens = 1 << 20;
  std::shared_ptr<const SuffixCorpus> corpus;
};

struct Draft {
  std::vector<GrownNode> nodes;
  double score = 0;
};

// What a sequence wrote, but for its last round, is learned when its state is released.
struct SuffixState final : DrafterState {
  explicit SuffixState(std::shared_ptr<LearnedTexts> learned) : learned(std::move(learned)) {}
  ~SuffixState() override {
    if (learned != nullptr) learned->Add(own.tokens().subspan(prompt_length));
  }
  SuffixAutomaton own;
  std::size_t prompt_length = 0;  // at most own.tokens().size()
  std::shared_ptr<LearnedTexts> learned;
};

class SuffixDrafter final : public Drafter {
 public:
  explicit SuffixDrafter(const SuffixOptions& options) : options_(options) {
    if (options.learn) learned_ = std::make_shared<LearnedTexts>(options.learn_tokens);
  }
  absl::string_view name() const override { return "suffix"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  bool chains_only() const override { return options_.branches == 1; }
  std::string note() const override {
    const char* learns = options_.learn ? "learns from finished requests" : "";
    if (options_.corpus == nullptr) return learns;
    return absl::StrCat(learns, options_.learn ? ", " : "", "corpus of ", options_.corpus->num_tokens(),
                        " tokens");
  }
  bool learns() const override { return options_.learn; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override {
    return std::make_unique<SuffixState>(learned_);
  }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      SuffixState& state = *static_cast<SuffixState*>(task.state);
      state.own.Follow(task.committed);
      state.prompt_length = task.prompt_length;
      if (std::min(task.budget, task.max_depth) > 0) AddGrown(BestDraft(task, state.own).nodes, *task.tree);
    }
    return absl::OkStatus();
  }

 private:
  Draft BestDraft(const DraftTask& task, const SuffixAutomaton& own) const {
    Draft best;
    Try(task, own, own.MatchesFrom(own.link(own.last()), own.repeat().length, options_.max_match), best);
    if (learned_ != nullptr) {
      const SuffixAutomaton& all = learned_->automaton();
      SuffixAutomaton::Cursor cursor;
      const std::size_t most = std::min<std::size_t>(task.committed.size(), options_.max_match);
      for (const TokenId token : task.committed.last(most)) cursor = all.Advance(cursor, token);
      Try(task, all, all.MatchesFrom(cursor.state, cursor.length, options_.max_match), best);
    }
    if (options_.corpus != nullptr)
      Try(task, *options_.corpus, options_.corpus->Matches(task.committed, options_.max_match), best);
    return best;
  }

  // Puts the draft of one of `matches`, longest first, in `best`'s place where it scores higher.
  template <class Index, class Match>
  void Try(const DraftTask& task, const Index& index, const std::vector<Match>& matches, Draft& best) const {
    for (const Match& match : matches) {
      if (match.length < options_.min_match) break;
      const double most = std::floor(match.length * options_.factor + options_.offset + 1e-6);
      Draft draft;
      draft.nodes = GrowBestFirst<typename Index::Place>(
          match.place,
          {.nodes = static_cast<int>(std::clamp<double>(most, 0, task.budget)),
           .depth = task.max_depth,
           .branches = options_.branches,
           .min_probability = options_.min_probability},
          [&](const typename Index::Place& place, int) { return index.Followers(place); });
      draft.score = ExpectedAccepted(draft.nodes);
      if (draft.score > best.score) best = std::move(draft);
    }
  }

  SuffixOptions options_;
  std::shared_ptr<LearnedTexts> learned_;
};

absl::StatusOr<SuffixOptions> ReadSuffix(const Json& json) {
  constexpr char kWhere[] = "drafter.suffix";
  SuffixOptions suffix;
  ObjectReader reader(json, kWhere);
  suffix.min_match = static_cast<int>(reader.Int("min_match", suffix.min_match, 1, 64));
  suffix.max_match = static_cast<int>(reader.Int("max_match", suffix.max_match, 1, 64));
  suffix.factor = reader.Number("factor", suffix.factor, 0, 64);
  suffix.offset = reader.Number("offset", suffix.offset, -64, 64);
  suffix.min_probability = reader.Number("min_probability", suffix.min_probability, 0, 1);
  suffix.branches = static_cast<int>(reader.Int("branches", suffix.branches, 0, 64));
  suffix.learn = reader.Bool("learn", suffix.learn);
  if (reader.Has("learn_tokens") && !suffix.learn) reader.Fail("learn_tokens", "\"learn\": true with it");
  suffix.learn_tokens = reader.Int("learn_tokens", suffix.learn_tokens, 1, 1 << 26);
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  if (suffix.min_match <= suffix.max_match) return suffix;
  return absl::InvalidArgumentError(absl::StrCat(kWhere, ": expected min_match <= max_match, found ",
                                                 suffix.min_match, " and ", suffix.max_match));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeSuffixDrafter(ObjectReader& options,
                                                           const DrafterResources& resources) {
  SuffixOptions suffix;
  if (const Json* own = options.Object("suffix")) {
    FORERUN_ASSIGN_OR_RETURN(suffix, ReadSuffix(*own));
  }
  FORERUN_ASSIGN_OR_RETURN(suffix.corpus, SuffixCorpusOption(options, resources));
  return std::make_unique<SuffixDrafter>(suffix);
}

}  // namespace forerun
