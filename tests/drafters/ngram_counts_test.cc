// Against a scan, on random texts over small alphabets.
#include "drafters/lookup/ngram_counts.h"

#include "gtest/gtest.h"
#include "tests/support/corpora.h"
#include "tests/support/occurrences.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;
using Counted = std::vector<std::pair<TokenId, uint32_t>>;

Counted ListOf(const CountedTokens& counted) {
  Counted list;
  for (const CountedToken& token : counted.tokens) list.emplace_back(token.token, token.count);
  return list;
}

TEST(NgramCounts, AreThoseOfAScanTheLatestFirstAmongEquals) {
  std::mt19937 random(9);
  for (const int alphabet : {1, 2, 4}) {
    NgramCounts counts(kMostWords);
    const Tokens whole = RandomTokens(random, 80, alphabet);
    for (std::size_t length = 1; length <= whole.size(); length += 1 + random() % 5) {
      if (random() % 6 == 0) counts.Follow(Tokens(length, 0));  // a text that turned out otherwise
      const Tokens text(whole.begin(), whole.begin() + length);
      counts.Follow(text);
      for (int query = 0; query < 40; ++query) {
        const Tokens words = RandomTokens(random, 1 + random() % 4, alphabet);
        Counted expected;
        int64_t total = 0;
        for (const Followed& followed : FollowedBy(words, text)) {
          expected.emplace_back(followed.token, followed.count);
          total += followed.count;
        }
        const CountedTokens found = counts.Find(LastWordsOf(words));
        ASSERT_EQ(ListOf(found), expected);
        ASSERT_EQ(found.total, total);
      }
    }
  }
}

TEST(NgramCorpus, HasWhatAScanFinds) {
  std::mt19937 random(10);
  for (const uint32_t min_count : {1u, 2u, 3u}) {
    for (const int alphabet : {1, 2, 5}) {
      const Tokens tokens = Joined({RandomTokens(random, 50, alphabet), RandomTokens(random, 3, alphabet),
                                    RandomTokens(random, 1, alphabet), RandomTokens(random, 30, alphabet)});
      const auto corpus = MakeNgramCorpus(tokens, min_count, alphabet);
      for (int query = 0; query < 200; ++query) {
        const Tokens words = RandomTokens(random, 1 + random() % 4, alphabet);
        Counted expected;
        int64_t total = 0;
        for (const Followed& followed : FollowedBy(words, tokens)) {
          total += followed.count;
          if (followed.count >= static_cast<int>(min_count))
            expected.emplace_back(followed.token, followed.count);
        }
        std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
          return a.second != b.second ? a.second > b.second : a.first < b.first;
        });
        const CountedTokens found = corpus->Find(LastWordsOf(words));
        ASSERT_EQ(ListOf(found), expected);
        if (!expected.empty()) {
          ASSERT_EQ(found.total, total);
        }
      }
    }
  }
}

}  // namespace
}  // namespace forerun
