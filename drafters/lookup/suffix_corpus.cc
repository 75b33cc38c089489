#include "drafters/lookup/suffix_corpus.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {

std::vector<uint32_t> SortSuffixes(std::span<const TokenId> tokens, int longest,
                                   const std::function<void(int64_t)>& progress) {
  TokenId most = -1;
  for (const TokenId token : tokens) most = std::max(most, token);
  std::vector<uint32_t> bucket_end(static_cast<std::size_t>(most) + 2, 0);  // [1 + first token]
  for (const TokenId token : tokens) {
    if (token != kTextEnd) ++bucket_end[token + 1];
  }
  for (std::size_t i = 1; i < bucket_end.size(); ++i) bucket_end[i] += bucket_end[i - 1];
  std::vector<uint32_t> sorted(bucket_end.back());
  std::vector<uint32_t> next(bucket_end.begin(), bucket_end.end() - 1);
  for (uint32_t place = 0; place < tokens.size(); ++place) {
    if (tokens[place] != kTextEnd) sorted[next[tokens[place]]++] = place;
  }
  const auto before = [&](uint32_t a, uint32_t b) {  // both start with the same token
    for (int i = 1; i < longest; ++i) {
      const TokenId left = tokens[a + i], right = tokens[b + i];
      if (left != right) return left < right;
      if (left == kTextEnd) break;
    }
    return a < b;
  };
  for (std::size_t i = 0; i + 1 < bucket_end.size(); ++i) {
    std::sort(sorted.begin() + bucket_end[i], sorted.begin() + bucket_end[i + 1], before);
    progress(bucket_end[i + 1]);
  }
  return sorted;
}

std::string SuffixCorpusBytes(std::span<const TokenId> tokens, std::span<const uint32_t> sorted,
                              const VocabularyId& vocabulary) {
  const std::span<const uint32_t> words(reinterpret_cast<const uint32_t*>(tokens.data()), tokens.size());
  return CorpusBytes({.kind = CorpusKind::kSuffixArray,
                      .vocabulary = vocabulary,
                      .longest = kSortedTokens,
                      .tokens = sorted.size(),
                      .first = words,
                      .second = sorted});
}

SuffixCorpus::SuffixCorpus(std::unique_ptr<CorpusFile> file)
    : file_(std::move(file)), tokens_(file_->content().first), sorted_(file_->content().second) {}

absl::StatusOr<std::shared_ptr<const SuffixCorpus>> SuffixCorpus::Make(std::unique_ptr<CorpusFile> file) {
  const CorpusContent& content = file->content();
  const auto damaged = [&](absl::string_view what) {
    return absl::DataLossError(absl::StrCat(file->name(), ": ", what));
  };
  if (content.longest != kSortedTokens)
    return damaged(absl::StrCat("sorted by: expected ", kSortedTokens, " tokens, found ", content.longest));
  for (const uint32_t word : content.first) {
    const TokenId token = static_cast<TokenId>(word);
    if (token < kTextEnd || token >= content.vocabulary.size)
      return damaged(absl::StrCat("token: expected less than ", content.vocabulary.size, ", found ", token));
  }
  for (const uint32_t place : content.second) {
    if (place >= content.first.size() || static_cast<TokenId>(content.first[place]) == kTextEnd)
      return damaged(absl::StrCat("place of a suffix: expected a token's, found ", place));
  }
  return std::shared_ptr<const SuffixCorpus>(new SuffixCorpus(std::move(file)));
}

TokenId SuffixCorpus::TokenAt(uint32_t suffix, int offset) const {
  const std::size_t index = std::size_t{sorted_[suffix]} + offset;
  return index < tokens_.size() ? static_cast<TokenId>(tokens_[index]) : kTextEnd;
}

uint32_t SuffixCorpus::UpperBound(uint32_t first, uint32_t end, int offset, TokenId token) const {
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (TokenAt(middle, offset) <= token) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

SuffixCorpus::Place SuffixCorpus::Find(std::span<const TokenId> words) const {
  Place place = {0, static_cast<uint32_t>(sorted_.size()), 0};
  for (const TokenId token : words) {  // a sequence that ends sorts first and is left behind
    place.end = UpperBound(place.first, place.end, place.length, token);
    place.first = UpperBound(place.first, place.end, place.length, token - 1);
    ++place.length;
    if (place.count() == 0) break;
  }
  return place;
}

std::vector<SuffixCorpus::Match> SuffixCorpus::Matches(std::span<const TokenId> text, int most) const {
  std::vector<Match> matches;
  most =
      static_cast<int>(std::min<std::size_t>({text.size(), static_cast<std::size_t>(most), kSortedTokens}));
  for (int length = 1; length <= most; ++length) {
    const Place place = Find(text.last(length));
    if (place.count() == 0) break;
    // As many occurrences as the shorter suffix has: the same ones.
    if (!matches.empty() && matches.back().place.count() == place.count()) matches.pop_back();
    matches.push_back({length, place});
  }
  std::reverse(matches.begin(), matches.end());
  return matches;
}

std::vector<Follower<SuffixCorpus::Place>> SuffixCorpus::Followers(const Place& place) const {
  std::vector<Follower<Place>> followers;
  if (place.length >= kSortedTokens) return followers;
  for (uint32_t first = place.first; first < place.end;) {
    const TokenId token = TokenAt(first, place.length);
    const uint32_t end = UpperBound(first + 1, place.end, place.length, token);
    if (token != kTextEnd) {
      const Place next = {first, end, place.length + 1};
      followers.push_back({token, static_cast<double>(next.count()) / place.count(), next});
    }
    first = end;
  }
  std::stable_sort(followers.begin(), followers.end(),
                   [](const auto& a, const auto& b) { return a.place.count() > b.place.count(); });
  return followers;
}

absl::StatusOr<VocabularyId> CorpusVocabulary(const DrafterResources& resources) {
  if (resources.target_tokenizer != nullptr) return VocabularyIdOf(*resources.target_tokenizer);
  return absl::InvalidArgumentError("drafter.corpus: expected a target with a tokenizer, found none");
}

absl::StatusOr<std::shared_ptr<const SuffixCorpus>> SuffixCorpusOption(ObjectReader& options,
                                                                       const DrafterResources& resources) {
  if (!options.Has("corpus")) return std::shared_ptr<const SuffixCorpus>();
  const std::string path = options.RequiredString("corpus");
  FORERUN_ASSIGN_OR_RETURN(const VocabularyId vocabulary, CorpusVocabulary(resources));
  FORERUN_ASSIGN_OR_RETURN(std::unique_ptr<CorpusFile> file,
                           CorpusFile::Open(path, CorpusKind::kSuffixArray, vocabulary));
  return SuffixCorpus::Make(std::move(file));
}

}  // namespace forerun
