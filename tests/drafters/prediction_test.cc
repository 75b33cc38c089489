#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/occurrences.h"
#include "tests/support/proposing.h"
#include "tests/support/toy_tokenizer.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;

// What is drafted after a prompt of one token and `output`.
Tokens Drafted(const char* options, const Tokens& prediction, const Tokens& output, int budget) {
  const auto drafter = MakeDrafterOrDie(options, {});
  Tokens text = {99};
  text.insert(text.end(), output.begin(), output.end());
  const TokenTree tree =
      Proposing(*drafter).DraftTree(text, {.budget = budget, .max_depth = budget, .prediction = prediction});
  return tree.PathTokens(tree.size() - 1);
}

constexpr char kDefault[] = R"({"type": "prediction"})";
constexpr char kOneWord[] = R"({"type": "prediction", "prediction": {"min_match": 1}})";
const Tokens kTen = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(Prediction, ReadsAheadFromItsStart) {
  EXPECT_EQ(Drafted(kDefault, kTen, {}, 4), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(Drafted(kDefault, kTen, {0, 1, 2, 3, 4, 5, 6}, 4), (Tokens{7, 8, 9}));
  EXPECT_EQ(Drafted(kDefault, kTen, kTen, 4), Tokens{});
  EXPECT_EQ(Drafted(kDefault, {}, {0, 1}, 4), Tokens{}) << "none is known";
}

TEST(Prediction, FindsItsPlaceAfterAReplacementAnInsertionAndADeletion) {
  EXPECT_EQ(Drafted(kDefault, kTen, {0, 1, 50}, 2), Tokens{});
  EXPECT_EQ(Drafted(kDefault, kTen, {0, 1, 50, 3, 4}, 2), (Tokens{5, 6}));
  EXPECT_EQ(Drafted(kOneWord, kTen, {0, 1, 50, 3}, 2), (Tokens{4, 5}));
  EXPECT_EQ(Drafted(kDefault, kTen, {0, 1, 50, 51, 52, 2, 3}, 2), (Tokens{4, 5}));
  EXPECT_EQ(Drafted(kDefault, kTen, {0, 1, 6, 7}, 2), (Tokens{8, 9}));
}

TEST(Prediction, LooksAheadFirstThenFromTheStart) {
  const Tokens twice = {1, 2, 3, 4, 1, 2, 5, 6};
  EXPECT_EQ(Drafted(kDefault, twice, {1, 2, 3, 50, 1, 2}, 1), (Tokens{5}));
  EXPECT_EQ(Drafted(kDefault, twice, {1, 2, 3, 4, 1, 2, 5, 50, 2, 3}, 1), (Tokens{4})) << "behind";
  EXPECT_EQ(Drafted(kOneWord, {7, 1, 8, 7, 2, 9, 1, 2, 5}, {50, 1, 2}, 1), (Tokens{5}))
      << "the longest match ahead";
}

TEST(Prediction, TheRequestsOwnComesBeforeTheDrafters) {
  const ToyTokenizer tokenizer(10);
  const auto drafter = MakeDrafterOrDie(R"({"type": "prediction", "prediction": {"text": "jihg"}})",
                                        {.target_tokenizer = &tokenizer});
  EXPECT_EQ(TreeText(Proposing(*drafter).DraftTree({99}, {.budget = 2})), "9(8)");
  EXPECT_EQ(TreeText(Proposing(*drafter).DraftTree({99}, {.budget = 2, .prediction = kTen})), "0(1)");
}

// Whatever rounds the state saw, it stands where reading token by token leads.
TEST(Prediction, SkippedAndRepeatedRoundsChangeNothing) {
  std::mt19937 random(13);
  const auto drafter = MakeDrafterOrDie(kOneWord, {});
  int drafts = 0;
  for (int i = 0; i < 60; ++i) {
    const Tokens prediction = RandomTokens(random, 40, 4), text = RandomTokens(random, 60, 4);
    Proposing sequence(*drafter);
    for (int asked = 0; asked < 20; ++asked) {
      const Tokens part(text.begin(), text.begin() + 3 + random() % 57);
      const Asked what = {.budget = 5, .prompt_length = 3, .prediction = prediction};
      const std::string drafted = TreeText(sequence.DraftTree(part, what));
      ASSERT_EQ(drafted, TreeText(Proposing(*drafter).DraftTree(part, what)));
      drafts += !drafted.empty();
    }
  }
  EXPECT_GT(drafts, 400);
}

TEST(Prediction, RefusesWhatContradictsItself) {
  for (const char* options : {R"({"type": "prediction", "prediction": {"text": "a", "file": "b"}})",
                              R"({"type": "prediction", "prediction": {"min_match": 4, "max_match": 3}})",
                              R"({"type": "prediction", "prediction": {"text": "a"}})",
                              R"({"type": "prediction", "prediction": {"file": "/no/such/file"}})"}) {
    const auto made = MakeDrafter(*ParseJson(options, "test"), {});
    ASSERT_FALSE(made.ok()) << options;
    EXPECT_EQ(std::string(made.status().message()).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace forerun
