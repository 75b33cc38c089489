// SAM-Decoding (Hu et al. 2024, arXiv:2411.10666): a suffix automaton of the request's own text always knows
// the longest suffix that occurred before; what followed its latest occurrence is copied, or the most
// frequent way on from there is walked. The longer the match, the longer the draft. A corpus has an automaton
// of its own, built when it is loaded. Cost: amortised constant a token.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/lookup/suffix_automaton.h"
#include "drafters/lookup/suffix_corpus.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

struct SamOptions {
  int min_match = 2;
  double factor = 4;  // a match of m tokens drafts at most 1 + factor m
  bool frequent = false;
  int corpus_bias = 5;  // a corpus must match so many tokens more than the own text
  std::shared_ptr<const SuffixAutomaton> corpus;
  int64_t corpus_tokens = 0;
};

constexpr int64_t kMostCorpusTokens = 1 << 24;  // a token takes some 150 bytes of an automaton

struct SamState final : DrafterState {
  SuffixAutomaton own;
  SuffixAutomaton::Cursor in_corpus;  // after own.tokens()
};

class SamDrafter final : public Drafter {
 public:
  explicit SamDrafter(const SamOptions& options) : options_(options) {}
  absl::string_view name() const override { return "sam"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  std::string note() const override {
    return options_.corpus == nullptr ? "" : absl::StrCat("corpus of ", options_.corpus_tokens, " tokens");
  }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<SamState>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      SamState& state = *static_cast<SamState*>(task.state);
      const std::size_t known = state.own.Follow(task.committed);
      const SuffixAutomaton::Repeat own = state.own.repeat();
      if (options_.corpus != nullptr) {
        const SuffixAutomaton& corpus = *options_.corpus;
        if (known == 0) state.in_corpus = {};
        for (const TokenId token : task.committed.subspan(known))
          state.in_corpus = corpus.Advance(state.in_corpus, token);
        const auto [place, length] = state.in_corpus;
        if (length >= options_.min_match && own.length < length - options_.corpus_bias) {
          Copy(corpus, place, {length, corpus.latest_end(place)}, task);
          continue;
        }
      }
      if (own.length >= options_.min_match) Copy(state.own, state.own.link(state.own.last()), own, task);
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

absl::StatusOr<std::shared_ptr<const SuffixAutomaton>> AutomatonOf(const SuffixCorpus& corpus) {
  if (corpus.num_tokens() > kMostCorpusTokens) {
    return absl::InvalidArgumentError(absl::StrCat("drafter.corpus: expected at most ", kMostCorpusTokens,
                                                   " tokens for sam, found ", corpus.num_tokens()));
  }
  auto automaton = std::make_shared<SuffixAutomaton>();
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    if (corpus.token(i) == kTextEnd) {
      automaton->EndText();
    } else {
      automaton->Append(corpus.token(i));
    }
  }
  return std::shared_ptr<const SuffixAutomaton>(std::move(automaton));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeSamDrafter(ObjectReader& options,
                                                        const DrafterResources& resources) {
  SamOptions sam;
  if (const Json* own = options.Object("sam")) {
    ObjectReader reader(*own, "drafter.sam");
    sam.min_match = static_cast<int>(reader.Int("min_match", sam.min_match, 1, 1 << 20));
    sam.factor = reader.Number("factor", sam.factor, 0, 1024);
    sam.frequent = reader.Choice("continuation", "latest", {"latest", "frequent"}) == "frequent";
    sam.corpus_bias = static_cast<int>(reader.Int("corpus_bias", sam.corpus_bias, 0, 1 << 20));
    FORERUN_RETURN_IF_ERROR(reader.Finish());
  }
  FORERUN_ASSIGN_OR_RETURN(const std::shared_ptr<const SuffixCorpus> corpus,
                           SuffixCorpusOption(options, resources));
  if (corpus != nullptr) {
    FORERUN_ASSIGN_OR_RETURN(sam.corpus, AutomatonOf(*corpus));
    sam.corpus_tokens = corpus->num_tokens();
  }
  return std::make_unique<SamDrafter>(sam);
}

}  // namespace forerun
