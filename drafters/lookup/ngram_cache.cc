// N-gram statistics (the lookup cache of llama.cpp, after Ou et al. 2024, arXiv:2404.08698): counts of which
// token followed the last one to four words, in the request's own text and in a corpus. The longest n-gram
// with a follower that is frequent enough decides, the own text before the corpus; the draft grows by shares.
// Cost: a hash look-up for each n and token.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/lookup/best_first.h"
#include "drafters/lookup/ngram_counts.h"
#include "drafters/lookup/suffix_corpus.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

struct NgramCacheOptions {
  int least = 1, most = kMostWords;  // words of an n-gram
  int64_t min_count = 1;             // of a follower
  double min_share = 0.3;            // of a follower, of all that followed the n-gram
  double min_probability = 0.1;      // of a path
  int branches = 1;                  // 0: any number
  std::shared_ptr<const NgramCorpus> corpus;
};

struct NgramCacheState final : DrafterState {
  explicit NgramCacheState(int longest) : own(longest) {}
  NgramCounts own;
};

class NgramCacheDrafter final : public Drafter {
 public:
  explicit NgramCacheDrafter(const NgramCacheOptions& options) : options_(options) {}
  absl::string_view name() const override { return "ngram_cache"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  bool chains_only() const override { return options_.branches == 1; }
  std::string note() const override {
    return options_.corpus == nullptr ? ""
                                      : absl::StrCat("corpus of ", options_.corpus->num_tokens(), " tokens");
  }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override {
    return std::make_unique<NgramCacheState>(options_.most);
  }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      NgramCounts& own = static_cast<NgramCacheState*>(task.state)->own;
      own.Follow(task.committed);
      const GrowthLimits limits = {.nodes = task.budget,
                                   .depth = task.max_depth,
                                   .branches = options_.branches,
                                   .min_probability = options_.min_probability};
      AddGrown(GrowBestFirst(LastWordsOf(task.committed), limits,
                             [&](const LastWords& words, int) { return FollowersOf(own, words); }),
               *task.tree);
    }
    return absl::OkStatus();
  }

 private:
  std::vector<Follower<LastWords>> FollowersOf(const NgramCounts& own, const LastWords& words) const {
    std::vector<Follower<LastWords>> followers;
    for (int length = options_.most; length >= options_.least; --length) {
      if (words[kMostWords - length] == kTextEnd) continue;
      const LastWords key = Shorter(words, length);
      AddFrequent(own.Find(key), words, followers);
      if (followers.empty() && options_.corpus != nullptr)
        AddFrequent(options_.corpus->Find(key), words, followers);
      if (!followers.empty()) break;
    }
    return followers;
  }

  void AddFrequent(const CountedTokens& counted, const LastWords& words,
                   std::vector<Follower<LastWords>>& followers) const {
    for (const CountedToken& next : counted.tokens) {  // ever less frequent
      const double share = static_cast<double>(next.count) / counted.total;
      if (next.count < options_.min_count || share < options_.min_share) return;
      followers.push_back({next.token, share, Then(words, next.token)});
    }
  }

  NgramCacheOptions options_;
};

absl::Status ReadNgramCache(const Json& json, NgramCacheOptions* cache) {
  constexpr char kWhere[] = "drafter.ngram_cache";
  ObjectReader reader(json, kWhere);
  cache->least = static_cast<int>(reader.Int("min", cache->least, 1, kMostWords));
  cache->most = static_cast<int>(reader.Int("max", cache->most, 1, kMostWords));
  cache->min_count = reader.Int("min_count", cache->min_count, 1, 1 << 30);
  cache->min_share = reader.Number("min_share", cache->min_share, 0, 1);
  cache->min_probability = reader.Number("min_probability", cache->min_probability, 0, 1);
  cache->branches = static_cast<int>(reader.Int("branches", cache->branches, 0, 64));
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  if (cache->least <= cache->most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(kWhere, ": expected min <= max, found min ", cache->least, " and max ", cache->most));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeNgramCacheDrafter(ObjectReader& options,
                                                               const DrafterResources& resources) {
  NgramCacheOptions cache;
  if (const Json* own = options.Object("ngram_cache")) {
    FORERUN_RETURN_IF_ERROR(ReadNgramCache(*own, &cache));
  }
  if (options.Has("corpus")) {
    const std::string path = options.RequiredString("corpus");
    FORERUN_ASSIGN_OR_RETURN(const VocabularyId vocabulary, CorpusVocabulary(resources));
    FORERUN_ASSIGN_OR_RETURN(std::unique_ptr<CorpusFile> file,
                             CorpusFile::Open(path, CorpusKind::kNgram, vocabulary));
    FORERUN_ASSIGN_OR_RETURN(cache.corpus, NgramCorpus::Make(std::move(file)));
  }
  return std::make_unique<NgramCacheDrafter>(cache);
}

}  // namespace forerun
