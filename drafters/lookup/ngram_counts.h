// How often which token followed an n-gram: of a sequence's own text, kept up to date, and of a corpus, as a
// sorted table in a file.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "drafters/lookup/corpus_file.h"

namespace forerun {

inline constexpr int kMostWords = 4;

// The last words of a text, the last one last; kTextEnd in front of fewer.
using LastWords = std::array<TokenId, kMostWords>;
LastWords LastWordsOf(std::span<const TokenId> text, int most = kMostWords);
LastWords Shorter(const LastWords& words, int most);  // its last `most` alone
LastWords Then(const LastWords& words, TokenId next);

struct CountedToken {
  TokenId token = 0;
  uint32_t count = 0;
};

struct CountedTokens {
  int64_t total = 0;                     // of all that followed, counted below or not
  std::span<const CountedToken> tokens;  // the most frequent first
};

class NgramCounts {
 public:
  // Counts n-grams of up to `longest` words.
  explicit NgramCounts(int longest) : longest_(longest) {}
  // Makes it the counts of `text` alone: reads on where that continues what was read, else starts anew.
  void Follow(std::span<const TokenId> text);
  // Of equally frequent tokens the one seen last comes first. Valid until the next Follow().
  CountedTokens Find(const LastWords& words) const;

 private:
  struct Entry {
    int64_t total = 0;
    std::vector<CountedToken> tokens;
  };
  int longest_;
  std::vector<TokenId> text_;
  absl::flat_hash_map<LastWords, Entry> entries_;
};

// `sorted`: SortSuffixes() of `tokens` by more than kMostWords. What followed an n-gram less than `min_count`
// times is left out.
std::string NgramCorpusBytes(std::span<const TokenId> tokens, std::span<const uint32_t> sorted,
                             uint32_t min_count, const VocabularyId& vocabulary);

class NgramCorpus {
 public:
  // Takes a file whose tables are sound: DataLoss where they are out of order or a token is out of range.
  static absl::StatusOr<std::shared_ptr<const NgramCorpus>> Make(std::unique_ptr<CorpusFile> file);
  // Of equally frequent tokens the lowest id comes first.
  CountedTokens Find(const LastWords& words) const;
  int64_t num_tokens() const { return static_cast<int64_t>(file_->content().tokens); }

 private:
  struct Row {
    LastWords words;
    uint32_t total;
    uint32_t first;  // index of its first follower; the next row's is the end
  };
  explicit NgramCorpus(std::unique_ptr<CorpusFile> file);
  absl::Status Check() const;

  std::unique_ptr<CorpusFile> file_;
  std::span<const Row> rows_;
  std::span<const CountedToken> followers_;
  friend std::string NgramCorpusBytes(std::span<const TokenId>, std::span<const uint32_t>, uint32_t,
                                      const VocabularyId&);
};

}  // namespace forerun
