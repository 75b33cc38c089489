#include <vector>

#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

std::vector<TokenId> Drafted(const char* options, const std::vector<TokenId>& committed, int budget) {
  const auto drafter = MakeDrafterOrDie(options, {});
  return Proposing(*drafter).Draft(committed, budget);
}

std::string Grown(const char* options, const std::vector<TokenId>& committed, const Asked& asked) {
  const auto drafter = MakeDrafterOrDie(options, {});
  return TreeText(Proposing(*drafter).DraftTree(committed, asked));
}

using Tokens = std::vector<TokenId>;
constexpr char kDefault[] = R"({"type": "ngram"})";

TEST(Ngram, ContinuesWhatFollowedTheLastWords) {
  EXPECT_EQ(Drafted(kDefault, {1, 2, 3, 4, 5, 9, 1, 2, 3}, 3), (Tokens{4, 5, 9}));
}

TEST(Ngram, ALongerMatchBeatsALaterShorterOne) {
  EXPECT_EQ(Drafted(kDefault, {1, 2, 3, 7, 9, 3, 8, 1, 2, 3}, 1), (Tokens{7}));
}

TEST(Ngram, AmongEquallyLongMatchesTheLatestWins) {
  EXPECT_EQ(Drafted(kDefault, {2, 3, 7, 4, 2, 3, 8, 5, 2, 3}, 1), (Tokens{8}));
}

TEST(Ngram, LongestIsCappedByMax) {
  // With max 1 the latest single 3 wins, although an earlier place matches three words.
  EXPECT_EQ(Drafted(R"({"type": "ngram", "ngram": {"min": 1, "max": 1}})", {1, 2, 3, 7, 9, 3, 8, 1, 2, 3}, 1),
            (Tokens{8}));
}

TEST(Ngram, NothingBelowMin) {
  EXPECT_EQ(Drafted(R"({"type": "ngram", "ngram": {"min": 2, "max": 3}})", {5, 3, 7, 3}, 4), Tokens{});
  EXPECT_EQ(Drafted(R"({"type": "ngram", "ngram": {"min": 2, "max": 3}})", {5, 3, 7, 5, 3}, 2),
            (Tokens{7, 5}));
}

TEST(Ngram, StopsAtTheEndOfTheContext) {
  EXPECT_EQ(Drafted(kDefault, {4, 6, 4}, 8), (Tokens{6, 4}));  // shorter than the budget
  EXPECT_EQ(Drafted(kDefault, {4, 4}, 8), (Tokens{4}));
}

TEST(Ngram, DraftsNothingWithoutAMatch) {
  EXPECT_EQ(Drafted(kDefault, {1}, 4), Tokens{});
  EXPECT_EQ(Drafted(kDefault, {1, 2, 3}, 4), Tokens{});
}

constexpr char kTree[] = R"({"type": "ngram", "ngram": {"min": 1, "max": 3, "branches": 3}})";

constexpr char kPairs[] = R"({"type": "ngram", "ngram": {"max": 2, "branches": 2}})";

TEST(NgramTree, PathsTakeTurnsTheLatestFirst) {
  const Tokens text = {1, 2, 7, 7, 7, 1, 2, 8, 8, 8, 1, 2, 9, 9, 9, 1, 2};
  EXPECT_EQ(Grown(kTree, text, {.budget = 1}), "9");
  EXPECT_EQ(Grown(kTree, text, {.budget = 5}), "9(9) 8(8) 7");
  EXPECT_EQ(Grown(R"({"type": "ngram", "ngram": {"branches": 2}})", text, {.budget = 5}), "9(9(9)) 8(8)");
  EXPECT_EQ(Grown(kTree, text, {.budget = 9, .max_depth = 2}), "9(9) 8(8) 7(7)");
}

TEST(NgramTree, WhatPathsShareIsThereOnce) {
  const Tokens text = {1, 2, 3, 4, 6, 0, 1, 2, 3, 4, 7, 0, 1, 2};
  EXPECT_EQ(Grown(kPairs, text, {.budget = 6, .max_depth = 3}), "3(4(7 6))");
}

TEST(NgramTree, EqualContinuationsAreOnePath) {
  const Tokens text = {1, 2, 5, 5, 1, 2, 6, 6, 1, 2, 6, 6, 1, 2};
  EXPECT_EQ(Grown(kPairs, text, {.budget = 4, .max_depth = 2}), "6(6) 5(5)");
}

TEST(Ngram, RefusesAnEmptyRange) {
  const auto made =
      MakeDrafter(*ParseJson(R"({"type": "ngram", "ngram": {"min": 3, "max": 2}})", "test"), {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(std::string(made.status().message()).find("min 3 and max 2"), std::string::npos) << made.status();
}

}  // namespace
}  // namespace forerun
