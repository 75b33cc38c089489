// The window's tree, how it moves, what enters the pool, and what a smaller budget leaves out.
#include <algorithm>
#include <set>
#include <vector>

#include "core/model/table_model.h"
#include "drafters/lookup/ngram_pool.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;

std::unique_ptr<Drafter> Make(int window, int level, int guesses, const char* more = "") {
  return MakeDrafterOrDie(R"({"type": "lookahead", "lookahead": {"window": )" + std::to_string(window) +
                              R"(, "level": )" + std::to_string(level) + R"(, "guesses": )" +
                              std::to_string(guesses) + more + "}}",
                          {});
}

// What a target would say of `tree` whose best word after a row is its token + 100.
std::vector<EvidenceRow> Verified(const TokenTree& tree, std::size_t committed) {
  std::vector<EvidenceRow> rows;
  for (const TokenTree::Node& node : tree.nodes()) {
    rows.push_back({.token = node.token,
                    .position = static_cast<int64_t>(committed) - 1 + node.depth,
                    .parent = node.parent,
                    .committed = node.parent < 0,
                    .top = {{.token = node.token + 100}}});
  }
  return rows;
}

std::set<Tokens> Paths(const TokenTree& tree) {
  std::set<Tokens> paths;
  for (int node = 1; node < tree.size(); ++node) paths.insert(tree.PathTokens(node));
  return paths;
}

// The columns of a window without merged nodes, in the order in which a tree adds them.
std::vector<Tokens> Columns(const TokenTree& tree, int window, int size) {
  std::vector<Tokens> columns;
  int node = 0;
  for (int i = 0; i < window; ++i) {
    Tokens& column = columns.emplace_back();
    for (int row = 0; row < size; ++row) column.push_back(tree.node(node++).token);
  }
  return columns;
}

// Distinct words, so that the random window has no equal siblings for most keys.
Tokens Prompt() {
  Tokens prompt;
  for (TokenId token = 0; token < 90; ++token) prompt.push_back(1 + token);
  return prompt;
}

// `Draft` of proposing.h keeps a prompt of one word; here it is the whole text.
class Window {
 public:
  explicit Window(Drafter& drafter) : drafter_(drafter), state_(*drafter.Open()) {}
  TokenTree Draft(const Tokens& committed, int budget, int max_depth,
                  std::span<const EvidenceRow> evidence = {}) {
    TokenTree tree(committed.back());
    DraftTask task{.state = state_.get(),
                   .committed = committed,
                   .prompt_length = 90,
                   .sampling = &sampling_,
                   .request = 3,
                   .budget = budget,
                   .max_depth = max_depth,
                   .evidence = evidence,
                   .tree = &tree,
                   .status = absl::OkStatus()};
    EXPECT_TRUE(drafter_.Propose({&task, 1}).ok());
    return tree;
  }

 private:
  Drafter& drafter_;
  std::unique_ptr<DrafterState> state_;
  Sampling sampling_;
};

TEST(Lookahead, ColumnsHangBelowAChainOfHeads) {
  const auto drafter = Make(4, 4, 1);
  const TokenTree tree = Window(*drafter).Draft(Prompt(), 100, 100);
  ASSERT_EQ(tree.num_drafted(), 4 * 3 - 1);
  const int parents[] = {-1, 0, 1, 0, 3, 4, 3, 6, 7, 6, 9, 10};
  for (int node = 0; node < tree.size(); ++node) EXPECT_EQ(tree.node(node).parent, parents[node]) << node;
  EXPECT_EQ(tree.max_depth(), 3 + 2);
}

TEST(Lookahead, TheWindowsFirstWordsAreTheKeys) {
  const auto drafter = Make(4, 4, 1);
  const std::set<Tokens> one = Paths(Window(*drafter).Draft(Prompt(), 100, 100));
  EXPECT_EQ(Paths(Window(*drafter).Draft(Prompt(), 100, 100)), one);
  for (const Tokens& path : one) {
    for (const TokenId token : path) EXPECT_TRUE(token >= 1 && token <= 90);
  }
}

TEST(Lookahead, EveryColumnMovesDownByTheWordThatTheTargetSays) {
  const auto drafter = Make(3, 3, 1);
  Window window(*drafter);
  Tokens committed = Prompt();
  TokenTree tree = window.Draft(committed, 100, 100);
  for (int round = 0; round < 4; ++round) {
    const std::vector<Tokens> before = Columns(tree, 3, 2);
    const std::vector<EvidenceRow> evidence = Verified(tree, committed.size());
    committed.push_back(90 + 100 * (round + 1));  // the correction
    // A guess that the pool may have stands after the window.
    tree = window.Draft(committed, 100, 100, evidence);
    const std::vector<Tokens> after = Columns(tree, 3, 2);
    for (int i = 0; i < 3; ++i) {
      if (i > 0) {
        EXPECT_EQ(after[i][0], before[i][1]);
      }
      EXPECT_EQ(after[i][1], before[i][1] + 100);
    }
  }
}

TEST(Lookahead, EvidenceOfAnotherTreeMovesNothing) {
  const auto drafter = Make(3, 3, 1);
  Window window(*drafter);
  const TokenTree tree = window.Draft(Prompt(), 100, 100);
  EXPECT_EQ(Paths(window.Draft(Prompt(), 100, 100, Verified(tree, 17))), Paths(tree));
  EXPECT_NE(Paths(window.Draft(Prompt(), 100, 100, Verified(tree, 90))), Paths(tree));
}

TEST(Lookahead, OnlyTheTargetsOwnWordsEnterThePool) {
  const auto drafter = Make(3, 4, 4);
  Window window(*drafter);
  Tokens committed = Prompt();
  TokenTree tree = window.Draft(committed, 100, 100);
  for (int round = 0; round < 6; ++round) {
    const Tokens column = Columns(tree, 3, 3)[2];
    const std::vector<EvidenceRow> evidence = Verified(tree, committed.size());
    committed.push_back(column[0]);  // as if the head of column 2 had been written
    tree = window.Draft(committed, 100, 100, evidence);
    const Tokens ngram = {column[1], column[2], column[2] + 100};
    // Words below 100 are the random ones of the start.
    EXPECT_EQ(Paths(tree).contains(ngram), column[1] > 100 && column[2] > 100) << "round " << round;
  }
}

TEST(Lookahead, ASmallBudgetDropsGuessesThenColumnsThenTheLastGuess) {
  const auto drafter = Make(3, 3, 2, R"(, "pool_from_text": true)");
  Tokens committed = Prompt();
  for (const TokenId word : {70, 71, 72, 70, 81, 82, 70}) committed.push_back(word);
  const auto guessed = [&](const std::set<Tokens>& paths) {
    return Tokens{paths.contains({71}), paths.contains({71, 72}), paths.contains({81}),
                  paths.contains({81, 82})};
  };
  struct Case {
    int budget, columns;
    Tokens guesses;
  };
  // The guess after the latest 70 comes first.
  for (const Case& c : {Case{20, 3, {1, 1, 1, 1}}, Case{9, 3, {1, 1, 1, 1}}, Case{8, 3, {1, 0, 1, 1}},
                        Case{7, 3, {0, 0, 1, 1}}, Case{5, 2, {0, 0, 1, 1}}, Case{3, 1, {0, 0, 1, 1}},
                        Case{2, 1, {0, 0, 1, 0}}, Case{1, 1, {0, 0, 0, 0}}}) {
    const std::set<Tokens> paths = Paths(Window(*drafter).Draft(committed, c.budget, 100));
    EXPECT_EQ(guessed(paths), c.guesses) << c.budget;
    const int in_guesses = static_cast<int>(std::count(c.guesses.begin(), c.guesses.end(), 1));
    EXPECT_EQ(static_cast<int>(paths.size()) - in_guesses, c.columns * 2 - 1) << c.budget;
  }
}

TEST(Lookahead, NothingIsDeeperThanAllowed) {
  const auto drafter = Make(5, 5, 2);
  for (int depth = 0; depth < 8; ++depth)
    EXPECT_EQ(Window(*drafter).Draft(Prompt(), 100, depth).max_depth(), depth);
}

// A target that goes round in a circle: each n-gram that the window passes through is right, so that in the
// end whole guesses stand, and after each of them one more word of the target.
TEST(Lookahead, AcceptsWholeGuesses) {
  constexpr int kVocab = 12, kLevel = 5;
  ContextTable circle(kVocab, 1);
  for (TokenId token = 0; token < kVocab; ++token) {
    const std::span<double> row = circle.Row({&token, 1});
    std::fill(row.begin(), row.end(), 0.0);
    row[(token + 1) % kVocab] = 1;
  }
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  TableModel target(*pool, circle);
  const auto drafter = Make(4, kLevel, 4);
  Request request;
  request.prompt = {1, 2};
  request.drafter = drafter.get();
  request.verifier = &Rule("greedy");
  request.num_speculative_tokens = 60;
  request.max_new_tokens = 200;
  const Completion completion = Complete(target, *pool, request);
  EXPECT_EQ(CheckRecords(request, completion), "");
  int whole = 0;
  for (const RoundRecord& round : completion.rounds) whole += round.accepted >= kLevel - 1;
  EXPECT_GT(whole, 20);
  EXPECT_LT(completion.result.rounds, 60);
}

TEST(NgramPool, KeepsTheLatestOfEachFirstWord) {
  NgramPool pool(2);
  EXPECT_TRUE(pool.After(1).empty());
  pool.Insert(1, Tokens{2, 3});
  pool.Insert(1, Tokens{4, 5});
  pool.Insert(7, Tokens{8, 9});
  const auto after = [&] {
    const auto span = pool.After(1);
    return std::vector<Tokens>(span.begin(), span.end());
  };
  EXPECT_EQ(after(), (std::vector<Tokens>{{4, 5}, {2, 3}}));
  pool.Insert(1, Tokens{2, 3});  // used again
  EXPECT_EQ(after(), (std::vector<Tokens>{{2, 3}, {4, 5}}));
  pool.Insert(1, Tokens{6, 6});  // the other one was unused for longer
  EXPECT_EQ(after(), (std::vector<Tokens>{{6, 6}, {2, 3}}));
}

}  // namespace
}  // namespace forerun
