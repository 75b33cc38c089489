#include <vector>

#include "gtest/gtest.h"
#include "tests/support/completion.h"

namespace forerun {
namespace {

std::vector<TokenId> Drafted(const char* options, const std::vector<TokenId>& committed, int budget) {
  const auto drafter = MakeDrafterOrDie(options, {});
  const auto state = *drafter->Open();
  const Sampling sampling;
  TokenTree tree(committed.back());
  DraftTask task{.state = state.get(),
                 .committed = committed,
                 .prompt_length = 1,
                 .sampling = &sampling,
                 .request = 0,
                 .budget = budget,
                 .tree = &tree,
                 .status = absl::OkStatus()};
  EXPECT_TRUE(drafter->Propose({&task, 1}).ok());
  return tree.PathTokens(tree.size() - 1);
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

TEST(Ngram, RefusesAnEmptyRange) {
  const auto made =
      MakeDrafter(*ParseJson(R"({"type": "ngram", "ngram": {"min": 3, "max": 2}})", "test"), {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(std::string(made.status().message()).find("min 3 and max 2"), std::string::npos) << made.status();
}

}  // namespace
}  // namespace forerun
