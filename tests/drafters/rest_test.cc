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

class Rest : public testing::Test {
 protected:
  // The trie drafted after `text` from a corpus.
  std::string Drafted(const Tokens& corpus, const Tokens& text, const Asked& asked,
                      const std::string& rest = "{}") {
    const std::string path = WriteBytes(folder_.path() + "/corpus", SuffixBytes(corpus, tokenizer_));
    const auto drafter =
        MakeDrafterOrDie(absl::StrCat(R"({"type": "rest", "corpus": ")", path, R"(", "rest": )", rest, "}"),
                         {.target_tokenizer = &tokenizer_});
    EXPECT_EQ(drafter->note(),
              absl::StrCat("corpus of ", corpus.size() - std::count(corpus.begin(), corpus.end(), kTextEnd),
                           " tokens"));
    return TreeText(Proposing(*drafter).DraftTree(text, asked));
  }
  TemporaryFolder folder_{"rest"};
  ToyTokenizer tokenizer_{10};
};

TEST_F(Rest, TheHeaviestNodesOfTheTrie) {
  const Tokens corpus = {1, 2, 3, 4, 0, 1, 2, 3, 5, 0, 1, 2, 6, 0, 1, 2, 3, 4, kTextEnd};
  EXPECT_EQ(Drafted(corpus, {9, 1, 2}, {.budget = 2}), "3(4)");
  EXPECT_EQ(Drafted(corpus, {9, 1, 2}, {.budget = 4, .max_depth = 2}), "3(4 5) 6");
  EXPECT_EQ(Drafted(corpus, {9, 1, 2}, {.budget = 4}, R"({"depth": 1})"), "3 6");
  EXPECT_EQ(Drafted(corpus, {9, 1, 2}, {.budget = 3}, R"({"branches": 1})"), "3(4(0))");
  EXPECT_EQ(Drafted(corpus, {9, 2}, {.budget = 4}), "") << "one word is too few";
  EXPECT_EQ(Drafted(corpus, {2}, {.budget = 1}, R"({"min_match": 1})"), "3");
}

TEST_F(Rest, WhereTheLongestMatchEndsATextAShorterOneSpeaks) {
  const Tokens corpus = Joined({{4, 1, 2, 3}, {5, 1, 2, 3, 7}});
  EXPECT_EQ(Drafted({4, 1, 2, 3, kTextEnd}, {4, 1, 2, 3}, {.budget = 4}), "");
  EXPECT_EQ(Drafted(corpus, {4, 1, 2, 3}, {.budget = 4}), "7");
}

// The longest suffix by scanning, and the share of its occurrences that each path follows.
TEST_F(Rest, DraftsOnlyTheMostFrequentPathsByScanning) {
  std::mt19937 random(11);
  for (int i = 0; i < 40; ++i) {
    const Tokens corpus = Joined({RandomTokens(random, 120, 3), RandomTokens(random, 60, 3)});
    const std::string path = WriteBytes(folder_.path() + "/corpus", SuffixBytes(corpus, tokenizer_));
    const auto drafter = MakeDrafterOrDie(absl::StrCat(R"({"type": "rest", "corpus": ")", path, R"("})"),
                                          {.target_tokenizer = &tokenizer_});
    const Tokens text = RandomTokens(random, 20, 3);
    const TokenTree tree = Proposing(*drafter).DraftTree(text, {.budget = 8});
    Tokens words;
    for (int length = 2; length <= 16; ++length) {
      const Tokens longer(text.end() - length, text.end());
      if (!FollowedBy(longer, corpus).empty()) words = longer;
    }
    const auto count = [&](int node) {
      Tokens sequence = words;
      for (const TokenId token : tree.PathTokens(node)) sequence.push_back(token);
      return EndsOf(sequence, corpus).size();
    };
    std::size_t least = corpus.size();
    for (int node = 1; node < tree.size(); ++node) least = std::min(least, count(node));
    ASSERT_GT(least, 0u);
    for (int node = 0; node < tree.size(); ++node) {  // whatever was left out is no more frequent
      if (tree.num_drafted() < 8 || tree.node(node).depth >= 10) continue;
      Tokens sequence = words;
      for (const TokenId token : tree.PathTokens(node)) sequence.push_back(token);
      for (const Followed& followed : FollowedBy(sequence, corpus)) {
        bool drafted = false;
        for (const int child : tree.Children(node)) drafted |= tree.node(child).token == followed.token;
        EXPECT_TRUE(drafted || followed.count <= static_cast<int>(least));
      }
    }
  }
}

TEST_F(Rest, NeedsACorpus) {
  const auto made = MakeDrafter(*ParseJson(R"({"type": "rest"})", "test"), {.target_tokenizer = &tokenizer_});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(std::string(made.status().message()).find("forerun corpus build"), std::string::npos);
}

}  // namespace
}  // namespace forerun
