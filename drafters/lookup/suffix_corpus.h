// A corpus as a suffix array (Manber and Myers 1990): every place of its texts, sorted by the tokens that
// start there, so that the occurrences of a sequence lie side by side. A search costs a logarithm of the
// corpus; nothing is held in memory but the mapped file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "drafters/lookup/best_first.h"
#include "drafters/lookup/corpus_file.h"
#include "drafters/registry.h"

namespace forerun {

// Tokens by which places are sorted: a longest match of 64 and a draft as long again.
inline constexpr int kSortedTokens = 128;

// The places of `tokens`, kTextEnd behind each text, sorted by their next `longest` tokens, then by place.
// `progress` hears now and then how many are sorted.
std::vector<uint32_t> SortSuffixes(std::span<const TokenId> tokens, int longest,
                                   const std::function<void(int64_t)>& progress);
std::string SuffixCorpusBytes(std::span<const TokenId> tokens, std::span<const uint32_t> sorted,
                              const VocabularyId& vocabulary);

class SuffixCorpus {
 public:
  // Takes a file whose tables are sound: DataLoss where a place or a token is out of range.
  static absl::StatusOr<std::shared_ptr<const SuffixCorpus>> Make(std::unique_ptr<CorpusFile> file);

  // The occurrences of a sequence of `length` tokens.
  struct Place {
    uint32_t first = 0, end = 0;  // in the suffix array
    int length = 0;
    int64_t count() const { return int64_t{end} - first; }
  };
  struct Match {
    int length = 0;
    Place place;
  };
  Place Find(std::span<const TokenId> words) const;
  // The suffixes of `text` that occur, at most `most` tokens long, the longest first; of those with the same
  // occurrences the longest.
  std::vector<Match> Matches(std::span<const TokenId> text, int most) const;
  // The most frequent first, then by id; shares are of place.count().
  std::vector<Follower<Place>> Followers(const Place& place) const;

  int64_t num_tokens() const { return static_cast<int64_t>(file_->content().tokens); }
  // Of all texts, kTextEnd behind each.
  TokenId token(std::size_t index) const { return static_cast<TokenId>(tokens_[index]); }
  std::size_t size() const { return tokens_.size(); }

 private:
  explicit SuffixCorpus(std::unique_ptr<CorpusFile> file);
  // kTextEnd from the end of the suffix's text on.
  TokenId TokenAt(uint32_t suffix, int offset) const;
  // End of the places in [first, end) whose token at `offset` is at most `token`; they are sorted by it.
  uint32_t UpperBound(uint32_t first, uint32_t end, int offset, TokenId token) const;

  std::unique_ptr<CorpusFile> file_;
  std::span<const uint32_t> tokens_, sorted_;
};

// What the drafter option "corpus" names; null where it is missing.
absl::StatusOr<std::shared_ptr<const SuffixCorpus>> SuffixCorpusOption(ObjectReader& options,
                                                                       const DrafterResources& resources);
// The target's, for a corpus.
absl::StatusOr<VocabularyId> CorpusVocabulary(const DrafterResources& resources);

}  // namespace forerun
