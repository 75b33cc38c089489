// Against a scan of the text, on random texts over small alphabets.
#include "drafters/lookup/suffix_automaton.h"

#include <random>

#include "gtest/gtest.h"
#include "tests/support/occurrences.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;

SuffixAutomaton::State Walk(const SuffixAutomaton& automaton, std::span<const TokenId> words) {
  SuffixAutomaton::State state = SuffixAutomaton::kRoot;
  for (std::size_t i = 0; i < words.size() && state != SuffixAutomaton::kNone; ++i)
    state = automaton.Next(state, words[i]);
  return state;
}

void ExpectAsScanned(const SuffixAutomaton& automaton, std::span<const TokenId> words, int alphabet) {
  const std::vector<int> ends = EndsOf(words, automaton.tokens());
  const SuffixAutomaton::State state = Walk(automaton, words);
  ASSERT_EQ(state == SuffixAutomaton::kNone, ends.empty());
  if (ends.empty()) return;
  ASSERT_EQ(automaton.count(state), static_cast<int64_t>(ends.size()));
  ASSERT_EQ(automaton.latest_end(state), ends.back());
  double share = 0;
  for (const auto& follower : automaton.Followers(state)) {
    Tokens longer(words.begin(), words.end());
    longer.push_back(follower.token);
    ASSERT_DOUBLE_EQ(follower.share, 1.0 * EndsOf(longer, automaton.tokens()).size() / ends.size());
    ASSERT_LT(follower.token, alphabet);
    share += follower.share;
  }
  ASSERT_LE(share, 1 + 1e-9);
}

TEST(SuffixAutomaton, CountsAndEndsAreThoseOfAScan) {
  std::mt19937 random(1);
  for (const int alphabet : {1, 2, 3, 5}) {
    for (int text = 0; text < 20; ++text) {
      SuffixAutomaton automaton;
      for (int i = 0; i < 40; ++i) {
        if (text >= 10 && random() % 11 == 0) automaton.EndText();
        automaton.Append(static_cast<TokenId>(random() % alphabet));
        ASSERT_EQ(automaton.CheckIntegrity(), "");
      }
      const std::span<const TokenId> tokens = automaton.tokens();
      for (int query = 0; query < 60; ++query) {
        Tokens words;
        const int length = 1 + random() % 6;
        for (int i = 0; i < length; ++i) words.push_back(static_cast<TokenId>(random() % alphabet));
        ExpectAsScanned(automaton, words, alphabet);
        const std::size_t first = random() % tokens.size();
        const std::span<const TokenId> part =
            tokens.subspan(first, std::min<std::size_t>(1 + random() % 20, tokens.size() - first));
        if (std::count(part.begin(), part.end(), SuffixAutomaton::kEndOfText) == 0)
          ExpectAsScanned(automaton, part, alphabet);
      }
    }
  }
}

TEST(SuffixAutomaton, RepeatIsTheLongestSuffixThatOccurredBefore) {
  std::mt19937 random(2);
  for (const int alphabet : {1, 2, 4, 30}) {
    SuffixAutomaton automaton;
    Tokens text;
    for (int i = 0; i < 120; ++i) {
      text.push_back(static_cast<TokenId>(random() % alphabet));
      automaton.Append(text.back());
      const std::span<const TokenId> before(text.data(), text.size() - 1);
      int length = 0, end = 0;
      for (int longer = 1; longer < static_cast<int>(text.size()); ++longer) {
        const std::vector<int> ends = EndsOf(std::span<const TokenId>(text).last(longer), before);
        if (ends.empty()) break;
        length = longer;
        end = ends.back();
      }
      ASSERT_EQ(automaton.repeat().length, length);
      if (length > 0) {
        ASSERT_EQ(automaton.repeat().end, end);
      }
    }
  }
}

TEST(SuffixAutomaton, TheCursorIsTheLongestSuffixThatOccurs) {
  std::mt19937 random(3);
  for (const int alphabet : {2, 3}) {
    SuffixAutomaton automaton;
    for (int i = 0; i < 60; ++i) automaton.Append(static_cast<TokenId>(random() % alphabet));
    SuffixAutomaton::Cursor cursor;
    Tokens read;
    for (int i = 0; i < 200; ++i) {
      read.push_back(static_cast<TokenId>(random() % (alphabet + (i % 7 == 0))));
      cursor = automaton.Advance(cursor, read.back());
      int length = 0;
      while (length < static_cast<int>(read.size()) &&
             !EndsOf(std::span<const TokenId>(read).last(length + 1), automaton.tokens()).empty())
        ++length;
      ASSERT_EQ(cursor.length, length);
      ASSERT_EQ(cursor.state, Walk(automaton, std::span<const TokenId>(read).last(length)));
    }
  }
}

TEST(SuffixAutomaton, MatchesAreOnePerSetOfPlaces) {
  SuffixAutomaton automaton;
  for (const TokenId token : {1, 2, 3, 9, 1, 2, 3, 8, 2, 3, 7, 1, 2, 3}) automaton.Append(token);
  const auto matches = automaton.MatchesFrom(automaton.link(automaton.last()), automaton.repeat().length, 64);
  ASSERT_EQ(matches.size(), 2u);  // "1 2 3" three times; "2 3", and "3" with it, four times
  EXPECT_EQ(matches[0].length, 3);
  EXPECT_EQ(matches[1].length, 2);
  EXPECT_EQ(automaton.MatchesFrom(automaton.link(automaton.last()), 3, 2)[0].length, 2);
  EXPECT_EQ(automaton.MatchesFrom(automaton.link(automaton.last()), 3, 2).size(), 1u);
}

}  // namespace
}  // namespace forerun
