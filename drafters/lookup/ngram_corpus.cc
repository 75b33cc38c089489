// Rows {words, total, first follower} sorted by words, shorter n-grams first by their padding, and followers
// {token, count}: two tables that a binary search needs no more than.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/lookup/ngram_counts.h"

namespace forerun {
namespace {

// End of the places from `first` on that start with the same `length` tokens.
std::size_t EndOfGroup(std::span<const TokenId> tokens, std::span<const uint32_t> sorted, std::size_t first,
                       std::size_t end, int length) {
  const auto words_at = [&](std::size_t place) {  // fewer at the end of the corpus
    const std::span<const TokenId> rest = tokens.subspan(sorted[place]);
    return rest.first(std::min<std::size_t>(rest.size(), length));
  };
  const std::span<const TokenId> words = words_at(first);
  std::size_t after = first + 1;
  while (after < end && std::ranges::equal(words, words_at(after))) ++after;
  return after;
}

// Whether a text ends within `length` tokens of a place.
bool Ends(std::span<const TokenId> tokens, uint32_t place, int length) {
  for (int i = 0; i < length; ++i) {
    if (tokens[place + i] == kTextEnd) return true;
  }
  return false;
}

struct Group {
  int64_t total = 0;
  std::vector<CountedToken> tokens;
};

// What follows the first `length` tokens of the places [first, end), which share them.
Group FollowersOf(std::span<const TokenId> tokens, std::span<const uint32_t> sorted, std::size_t first,
                  std::size_t end, int length, uint32_t min_count) {
  Group group;
  while (first < end) {
    const TokenId next = tokens[sorted[first] + length];
    std::size_t after = first;
    while (after < end && tokens[sorted[after] + length] == next) ++after;
    const uint32_t count = static_cast<uint32_t>(after - first);
    if (next != kTextEnd) {
      group.total += count;
      if (count >= min_count) group.tokens.push_back({next, count});
    }
    first = after;
  }
  std::stable_sort(group.tokens.begin(), group.tokens.end(),
                   [](const CountedToken& a, const CountedToken& b) { return a.count > b.count; });
  return group;
}

template <class Row>
std::span<const uint32_t> Words(const std::vector<Row>& rows) {
  return {reinterpret_cast<const uint32_t*>(rows.data()), rows.size() * sizeof(Row) / sizeof(uint32_t)};
}

}  // namespace

std::string NgramCorpusBytes(std::span<const TokenId> tokens, std::span<const uint32_t> sorted,
                             uint32_t min_count, const VocabularyId& vocabulary) {
  std::vector<NgramCorpus::Row> rows;
  std::vector<CountedToken> followers;
  for (int length = 1; length <= kMostWords; ++length) {
    for (std::size_t first = 0; first < sorted.size();) {
      if (Ends(tokens, sorted[first], length)) {
        ++first;
        continue;
      }
      const std::size_t end = EndOfGroup(tokens, sorted, first, sorted.size(), length);
      const Group group = FollowersOf(tokens, sorted, first, end, length, min_count);
      if (!group.tokens.empty()) {
        rows.push_back({LastWordsOf(tokens.subspan(sorted[first], length)),
                        static_cast<uint32_t>(group.total), static_cast<uint32_t>(followers.size())});
        followers.insert(followers.end(), group.tokens.begin(), group.tokens.end());
      }
      first = end;
    }
  }
  return CorpusBytes({.kind = CorpusKind::kNgram,
                      .vocabulary = vocabulary,
                      .longest = kMostWords,
                      .tokens = sorted.size(),
                      .first = Words(rows),
                      .second = Words(followers)});
}

NgramCorpus::NgramCorpus(std::unique_ptr<CorpusFile> file) : file_(std::move(file)) {
  const CorpusContent& content = file_->content();
  constexpr std::size_t kRowWords = sizeof(Row) / sizeof(uint32_t);
  static_assert(kRowWords == kMostWords + 2 && sizeof(CountedToken) == 2 * sizeof(uint32_t));
  rows_ = {reinterpret_cast<const Row*>(content.first.data()), content.first.size() / kRowWords};
  followers_ = {reinterpret_cast<const CountedToken*>(content.second.data()), content.second.size() / 2};
}

absl::Status NgramCorpus::Check() const {
  const CorpusContent& content = file_->content();
  const auto damaged = [&](absl::string_view where, std::size_t index) {
    return absl::DataLossError(
        absl::StrCat(file_->name(), ": ", where, " ", index, " is out of order or range"));
  };
  if (content.longest != kMostWords || content.first.size() != rows_.size() * (kMostWords + 2) ||
      content.second.size() != followers_.size() * 2)
    return damaged("table", 0);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const bool sorted = i == 0 ? rows_[0].first == 0
                               : rows_[i - 1].words < rows_[i].words && rows_[i - 1].first < rows_[i].first;
    if (!sorted || rows_[i].first >= followers_.size() || rows_[i].total == 0) return damaged("n-gram", i);
  }
  for (std::size_t i = 0; i < followers_.size(); ++i) {
    const CountedToken& follower = followers_[i];
    if (follower.token < 0 || follower.token >= content.vocabulary.size || follower.count == 0)
      return damaged("follower", i);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const NgramCorpus>> NgramCorpus::Make(std::unique_ptr<CorpusFile> file) {
  std::shared_ptr<const NgramCorpus> corpus(new NgramCorpus(std::move(file)));
  FORERUN_RETURN_IF_ERROR(corpus->Check());
  return corpus;
}

CountedTokens NgramCorpus::Find(const LastWords& words) const {
  const auto row = std::lower_bound(rows_.begin(), rows_.end(), words,
                                    [](const Row& a, const LastWords& b) { return a.words < b; });
  if (row == rows_.end() || row->words != words) return {};
  const std::size_t end = row + 1 == rows_.end() ? followers_.size() : (row + 1)->first;
  return {row->total, followers_.subspan(row->first, end - row->first)};
}

}  // namespace forerun
