#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/occurrences.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;

// By scanning: the longest suffix that occurs before, its latest place.
Tokens Expected(const Tokens& text, int min_match, int budget, bool frequent) {
  int length = 0;
  for (int longer = 1; longer < static_cast<int>(text.size()); ++longer) {
    if (EndsOf(Tokens(text.end() - longer, text.end()), text).size() > 1) length = longer;
  }
  if (length < min_match) return {};
  Tokens words(text.end() - length, text.end()), draft;
  const std::vector<int> ends = EndsOf(words, text);
  const int end = ends[ends.size() - 2];
  while (static_cast<int>(draft.size()) < std::min(budget, 1 + 4 * length)) {
    if (frequent) {
      const std::vector<Followed> next = FollowedBy(words, text);
      if (next.empty()) break;
      words.push_back(next[0].token);
      draft.push_back(next[0].token);
    } else {
      const std::size_t place = end + draft.size();
      if (place == text.size()) break;
      draft.push_back(text[place]);
    }
  }
  return draft;
}

TEST(Sam, CopiesWhatAScanFinds) {
  std::mt19937 random(5);
  for (const bool frequent : {false, true}) {
    const auto drafter = MakeDrafterOrDie(
        frequent ? R"({"type": "sam", "sam": {"continuation": "frequent"}})" : R"({"type": "sam"})", {});
    int drafts = 0;
    for (const int alphabet : {1, 2, 4, 9}) {
      for (int i = 0; i < 8; ++i) {
        Proposing sequence(*drafter);
        const Tokens whole = RandomTokens(random, 60, alphabet);
        for (int length = 1; length <= 60; length += 1 + random() % 4) {
          const Tokens text(whole.begin(), whole.begin() + length);
          const Tokens draft = sequence.Draft(text, 12);
          ASSERT_EQ(draft, Expected(text, 2, 12, frequent)) << testing::PrintToString(text);
          drafts += !draft.empty();
        }
      }
    }
    EXPECT_GT(drafts, 200);
  }
}

TEST(Sam, TheLongerTheMatchTheLongerTheDraft) {
  Tokens text;
  for (TokenId token = 0; token < 30; ++token) text.push_back(token);
  text.insert(text.end(), {50, 0, 1});
  const auto drafter = MakeDrafterOrDie(R"({"type": "sam", "sam": {"factor": 1.5}})", {});
  Proposing sequence(*drafter);
  EXPECT_EQ(sequence.Draft(text, 64).size(), 4u);  // 1 + floor(1.5 * 2)
  text.push_back(2);
  EXPECT_EQ(sequence.Draft(text, 64).size(), 5u);
}

TEST(Sam, TheLatestPlaceOrTheMostFrequentWayOn) {
  const Tokens text = {1, 2, 3, 1, 2, 3, 1, 2, 4, 1, 2};
  EXPECT_EQ(Proposing(*MakeDrafterOrDie(R"({"type": "sam"})", {})).Draft(text, 1), (Tokens{4}));
  const auto frequent = MakeDrafterOrDie(R"({"type": "sam", "sam": {"continuation": "frequent"}})", {});
  EXPECT_EQ(Proposing(*frequent).Draft(text, 1), (Tokens{3}));
}

}  // namespace
}  // namespace forerun
