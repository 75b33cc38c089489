#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/corpora.h"
#include "tests/support/occurrences.h"
#include "tests/support/program.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;

std::string Options(const std::string& own) {
  return absl::StrCat(R"({"type": "ngram_cache", "ngram_cache": )", own, "}");
}

// The greedy walk by scanning: the longest n-gram with a frequent follower, its most frequent one.
Tokens Expected(const Tokens& text, int budget, double min_share, double min_probability) {
  Tokens path, words = text;
  for (double probability = 1; static_cast<int>(path.size()) < budget;) {
    double share = 0;
    TokenId next = 0;
    for (int length = std::min<int>(4, words.size()); length >= 1 && share == 0; --length) {
      const auto followed = FollowedBy(Tokens(words.end() - length, words.end()), text);
      double total = 0;
      for (const Followed& each : followed) total += each.count;
      if (followed.empty() || followed[0].count / total < min_share) continue;
      share = followed[0].count / total;
      next = followed[0].token;
    }
    probability *= share;
    if (share == 0 || probability < min_probability) break;
    path.push_back(next);
    words.push_back(next);
  }
  return path;
}

TEST(NgramCache, ChainsAreThoseOfAScan) {
  std::mt19937 random(12);
  const auto drafter = MakeDrafterOrDie(Options(R"({"min_share": 0.4, "min_probability": 0.2})"), {});
  int drafts = 0;
  for (const int alphabet : {1, 2, 4, 9}) {
    for (int i = 0; i < 10; ++i) {
      Proposing sequence(*drafter);
      const Tokens whole = RandomTokens(random, 60, alphabet);
      for (int length = 1; length <= 60; length += 1 + random() % 4) {
        const Tokens text(whole.begin(), whole.begin() + length);
        const Tokens draft = sequence.Draft(text, 8);
        ASSERT_EQ(draft, Expected(text, 8, 0.4, 0.2)) << testing::PrintToString(text);
        drafts += !draft.empty();
      }
    }
  }
  EXPECT_GT(drafts, 300);
}

TEST(NgramCache, ThresholdsAndTrees) {
  const Tokens text = {1, 2, 1, 2, 1, 3, 1};  // after 1: 2 twice, 3 once; after "3 1", "1 3 1": nothing
  EXPECT_EQ(Proposing(*MakeDrafterOrDie(Options(R"({"min_count": 2})"), {})).Draft(text, 1), (Tokens{2}));
  EXPECT_EQ(Proposing(*MakeDrafterOrDie(Options(R"({"min_count": 3})"), {})).Draft(text, 1), Tokens{});
  EXPECT_EQ(Proposing(*MakeDrafterOrDie(Options(R"({"min_share": 0.7})"), {})).Draft(text, 1), Tokens{});
  EXPECT_EQ(Proposing(*MakeDrafterOrDie(Options(R"({"min": 2})"), {})).Draft(text, 1), Tokens{});
  const auto tree = MakeDrafterOrDie(Options(R"({"branches": 0})"), {});
  EXPECT_EQ(TreeText(Proposing(*tree).DraftTree(text, {.budget = 4, .max_depth = 1})), "2 3");
}

TEST(NgramCache, TheOwnTextComesBeforeTheCorpusAtEachLength) {
  const TemporaryFolder folder("cache");
  const ToyTokenizer tokenizer(10);
  const std::string path =
      WriteBytes(folder.path() + "/corpus", NgramBytes({1, 2, 3, 4, 5, 2, 3, 4, 6, kTextEnd}, 1, tokenizer));
  const auto drafter = MakeDrafterOrDie(absl::StrCat(R"({"type": "ngram_cache", "corpus": ")", path, R"("})"),
                                        {.target_tokenizer = &tokenizer});
  EXPECT_EQ(drafter->note(), "corpus of 9 tokens");
  EXPECT_EQ(Proposing(*drafter).Draft({2, 3}, 2), (Tokens{4, 5})) << "5 and 6 tie";
  EXPECT_EQ(Proposing(*drafter).Draft({2, 3, 7, 2, 3}, 1), (Tokens{7}));
  EXPECT_EQ(Proposing(*drafter).Draft({3, 7, 2, 3}, 1), (Tokens{4})) << "two words of the corpus beat one";
}

}  // namespace
}  // namespace forerun
