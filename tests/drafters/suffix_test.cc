#include <cmath>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/occurrences.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;

std::string Options(const char* suffix) {
  return absl::StrCat(R"({"type": "suffix", "suffix": )", suffix, "}");
}

struct Plan {
  double factor = 1;
  double min_probability = 0.1;
  int branches = 1;
};

// The definition, by scanning `text` for every suffix and every path: the tree of one match length.
std::vector<std::pair<Tokens, double>> Grown(const Tokens& text, int length, int budget, const Plan& plan) {
  std::vector<std::pair<Tokens, double>> grown, open;  // paths with their probabilities
  const auto expand = [&](const Tokens& path, double probability) {
    Tokens words(text.end() - length, text.end());
    words.insert(words.end(), path.begin(), path.end());
    const double all = static_cast<double>(EndsOf(words, text).size());
    int left = plan.branches;
    for (const Followed& followed : FollowedBy(words, text)) {
      if (left-- == 0 && plan.branches > 0) break;
      Tokens longer = path;
      longer.push_back(followed.token);
      const double next = probability * (followed.count / all);
      if (next >= plan.min_probability) open.emplace_back(longer, next);
    }
  };
  expand({}, 1);
  const int most = std::min(budget, static_cast<int>(std::floor(length * plan.factor + 1e-6)));
  while (!open.empty() && static_cast<int>(grown.size()) < most) {
    auto best = open.begin();
    for (auto candidate = open.begin(); candidate != open.end(); ++candidate) {
      if (candidate->second > best->second ||
          (candidate->second == best->second && candidate->first.size() < best->first.size()))
        best = candidate;
    }
    const auto path = *best;
    open.erase(best);
    grown.push_back(path);
    expand(path.first, path.second);
  }
  return grown;
}

// The paths of the best-scoring tree, the longest match first.
std::vector<Tokens> Expected(const Tokens& text, int budget, const Plan& plan) {
  std::vector<Tokens> best;
  double best_score = 0;
  for (int length = std::min<int>(64, text.size() - 1); length >= 1; --length) {
    if (EndsOf(Tokens(text.end() - length, text.end()), text).size() < 2) continue;
    double score = 0;
    std::vector<Tokens> paths;
    for (const auto& [path, probability] : Grown(text, length, budget, plan)) {
      score += probability;
      paths.push_back(path);
    }
    if (score > best_score) {
      best_score = score;
      best = paths;
    }
  }
  return best;
}

TEST(Suffix, DraftsWhatTheDefinitionSaysByScanning) {
  std::mt19937 random(4);
  for (const Plan& plan : {Plan{}, Plan{.factor = 2.5, .min_probability = 0.3},
                           Plan{.factor = 2, .min_probability = 0, .branches = 0},
                           Plan{.factor = 3, .min_probability = 0.05, .branches = 2}}) {
    const auto drafter =
        MakeDrafterOrDie(Options(absl::StrCat(R"({"factor": )", plan.factor, R"(, "min_probability": )",
                                              plan.min_probability, R"(, "branches": )", plan.branches, "}")
                                     .c_str()),
                         {});
    int drafts = 0;
    for (const int alphabet : {1, 2, 3, 6}) {
      for (int i = 0; i < 6; ++i) {
        Proposing sequence(*drafter);
        const Tokens whole = RandomTokens(random, 40, alphabet);
        for (int length = 1; length <= 40; length += 1 + random() % 6) {
          const Tokens text(whole.begin(), whole.begin() + length);
          const TokenTree tree = sequence.DraftTree(text, {.budget = 6});
          std::vector<Tokens> paths;
          for (int node = 1; node < tree.size(); ++node) paths.push_back(tree.PathTokens(node));
          ASSERT_EQ(paths, Expected(text, 6, plan)) << testing::PrintToString(text);
          drafts += !paths.empty();
        }
      }
    }
    EXPECT_GT(drafts, 50);
  }
}

TEST(Suffix, LengthFollowsTheMatch) {
  const Tokens text = {5, 1, 2, 3, 4, 6, 7, 8, 9, 1, 2};
  EXPECT_EQ(Proposing(*MakeDrafterOrDie(Options("{}"), {})).Draft(text, 8), (Tokens{3, 4}));
  EXPECT_EQ(Proposing(*MakeDrafterOrDie(Options(R"({"offset": 3})"), {})).Draft(text, 8),
            (Tokens{3, 4, 6, 7, 8}));
  EXPECT_EQ(Proposing(*MakeDrafterOrDie(Options(R"({"min_match": 3})"), {})).Draft(text, 8), Tokens{});
}

TEST(Suffix, TheMostFrequentWayOnWinsAndTheLatestAmongEquals) {
  const char* one = R"({"factor": 1, "max_match": 1})";
  EXPECT_EQ(Proposing(*MakeDrafterOrDie(Options(one), {})).Draft({1, 2, 1, 2, 1, 3, 1}, 1), (Tokens{2}));
  EXPECT_EQ(Proposing(*MakeDrafterOrDie(Options(one), {})).Draft({1, 2, 1, 3, 1}, 1), (Tokens{3}));
}

TEST(Suffix, LearnsFromFinishedRequestsOnlyWhereItMay) {
  const Tokens first = {1, 2, 3, 4, 5}, second = {9, 2, 3};
  for (const bool learn : {false, true}) {
    const auto drafter = MakeDrafterOrDie(Options(learn ? R"({"learn": true})" : "{}"), {});
    EXPECT_EQ(drafter->note(), learn ? "learns from finished requests" : "");
    {
      Proposing other(*drafter);
      other.DraftTree(first, {.budget = 4});
      Proposing meanwhile(*drafter);
      EXPECT_EQ(meanwhile.Draft(second, 4), Tokens{}) << "the other goes on";
    }
    Proposing later(*drafter);
    EXPECT_EQ(later.Draft(second, 4), learn ? (Tokens{4, 5}) : Tokens{});
    EXPECT_EQ(later.Draft({7, 1}, 4), Tokens{}) << "prompts are not learned";
  }
}

TEST(Suffix, TheOwnTextWinsATie) {
  const auto drafter = MakeDrafterOrDie(Options(R"({"learn": true})"), {});
  { Proposing(*drafter).DraftTree({0, 1, 2, 3, 0, 1, 2}, {.budget = 4}); }
  // Elsewhere "1 2" came twice and went on to 3 once; here likewise, to 4.
  EXPECT_EQ(Proposing(*drafter).Draft({1, 2, 4, 1, 2}, 1), (Tokens{4}));
  EXPECT_EQ(Proposing(*drafter).Draft({1, 2}, 1), (Tokens{3}));
}

TEST(Suffix, ForgetsTheOldestWhereItIsFull) {
  const auto drafter = MakeDrafterOrDie(Options(R"({"learn": true, "learn_tokens": 8})"), {});
  for (const TokenId token : {10, 20, 30})
    Proposing(*drafter).DraftTree({0, token, token + 1, token + 2}, {});
  EXPECT_EQ(Proposing(*drafter).Draft({10}, 1), Tokens{});
  EXPECT_EQ(Proposing(*drafter).Draft({30}, 1), (Tokens{31}));
}

TEST(Suffix, RefusesWhatContradictsItself) {
  for (const auto& [options, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"min_match": 5, "max_match": 4})", "5 and 4"},
           {R"({"learn_tokens": 5})", "drafter.suffix.learn_tokens: expected \"learn\": true"}}) {
    const auto made = MakeDrafter(*ParseJson(Options(options.c_str()), "test"), {});
    ASSERT_FALSE(made.ok());
    EXPECT_NE(std::string(made.status().message()).find(expected), std::string::npos) << made.status();
  }
}

}  // namespace
}  // namespace forerun
