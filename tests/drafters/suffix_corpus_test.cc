// Against a scan of the corpus, on random texts over small alphabets.
#include "drafters/lookup/suffix_corpus.h"

#include "gtest/gtest.h"
#include "tests/support/corpora.h"
#include "tests/support/occurrences.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;

Tokens RandomCorpus(std::mt19937& random, int alphabet) {
  std::vector<Tokens> texts;
  for (int i = 0; i < 4; ++i) texts.push_back(RandomTokens(random, 1 + random() % 40, alphabet));
  return Joined(texts);
}

TEST(SuffixCorpus, SuffixesAreSorted) {
  std::mt19937 random(6);
  for (const int alphabet : {1, 2, 3, 20}) {
    const Tokens tokens = RandomCorpus(random, alphabet);
    int64_t told = 0;
    const std::vector<uint32_t> sorted =
        SortSuffixes(tokens, kSortedTokens, [&](int64_t done) { told = done; });
    EXPECT_EQ(told, static_cast<int64_t>(sorted.size()));
    const auto suffix = [&](uint32_t place) {
      return Tokens(tokens.begin() + place, std::find(tokens.begin() + place, tokens.end(), kTextEnd));
    };
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      ASSERT_TRUE(suffix(sorted[i - 1]) < suffix(sorted[i]) ||
                  (suffix(sorted[i - 1]) == suffix(sorted[i]) && sorted[i - 1] < sorted[i]));
    }
    EXPECT_EQ(sorted.size(), tokens.size() - 4);
  }
}

TEST(SuffixCorpus, FindsWhatAScanFinds) {
  std::mt19937 random(7);
  for (const int alphabet : {1, 2, 3, 6}) {
    for (int i = 0; i < 10; ++i) {
      const Tokens tokens = RandomCorpus(random, alphabet);
      const auto corpus = MakeSuffixCorpus(tokens, alphabet);
      for (int query = 0; query < 100; ++query) {
        const Tokens words = RandomTokens(random, 1 + random() % 6, alphabet);
        const SuffixCorpus::Place place = corpus->Find(words);
        ASSERT_EQ(place.count(), static_cast<int64_t>(EndsOf(words, tokens).size()));
        if (place.count() == 0) continue;
        std::vector<std::pair<TokenId, int64_t>> found, expected;
        for (const auto& follower : corpus->Followers(place)) {
          ASSERT_DOUBLE_EQ(follower.share, 1.0 * follower.place.count() / place.count());
          found.emplace_back(follower.token, follower.place.count());
        }
        for (const Followed& followed : FollowedBy(words, tokens))
          expected.emplace_back(followed.token, followed.count);
        std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
          return a.second != b.second ? a.second > b.second : a.first < b.first;
        });
        ASSERT_EQ(found, expected);
      }
    }
  }
}

TEST(SuffixCorpus, MatchesAreTheLongestOfEachSetOfPlaces) {
  std::mt19937 random(8);
  for (int i = 0; i < 60; ++i) {
    const Tokens tokens = RandomCorpus(random, 3);
    const auto corpus = MakeSuffixCorpus(tokens, 3);
    const Tokens text = RandomTokens(random, 30, 3);
    std::vector<std::pair<int, int64_t>> expected, found;  // length and count
    for (int length = 1; length <= 12; ++length) {
      const int64_t count = EndsOf(Tokens(text.end() - length, text.end()), tokens).size();
      if (count == 0) break;
      if (!expected.empty() && expected.back().second == count) expected.pop_back();
      expected.emplace_back(length, count);
    }
    std::reverse(expected.begin(), expected.end());
    for (const SuffixCorpus::Match& match : corpus->Matches(text, 12))
      found.emplace_back(match.length, match.place.count());
    ASSERT_EQ(found, expected);
  }
}

TEST(SuffixCorpus, AnEmptyCorpusHasNothing) {
  const auto corpus = MakeSuffixCorpus({}, 3);
  EXPECT_EQ(corpus->Find(Tokens{1}).count(), 0);
  EXPECT_TRUE(corpus->Matches(Tokens{1, 2}, 8).empty());
}

}  // namespace
}  // namespace forerun
