// What is learned from which row, and which nodes a budget buys.
#include <algorithm>
#include <vector>

#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;
constexpr char kDefault[] = R"({"type": "token_recycling"})";
constexpr char kTwo[] = R"({"type": "token_recycling", "token_recycling": {"acceptance": [0.6, 0.3]}})";

EvidenceRow Row(TokenId token, const Tokens& best) {
  EvidenceRow row;
  row.token = token;
  for (const TokenId next : best) row.top.push_back({.token = next});
  return row;
}

Tokens LevelSizes(const TokenTree& tree) {
  Tokens sizes(tree.max_depth(), 0);
  for (const TokenTree::Node& node : tree.nodes().subspan(1)) ++sizes[node.depth - 1];
  return sizes;
}

// "token<parent's token" of every node below the root.
std::vector<std::pair<TokenId, TokenId>> Edges(const TokenTree& tree) {
  std::vector<std::pair<TokenId, TokenId>> edges;
  for (const TokenTree::Node& node : tree.nodes().subspan(1))
    edges.emplace_back(tree.node(node.parent).token, node.token);
  return edges;
}

// Eight successors of each of 8 words: everything is known.
std::vector<EvidenceRow> EverythingKnown() {
  std::vector<EvidenceRow> evidence;
  for (TokenId token = 0; token < 8; ++token) {
    Tokens best;
    for (TokenId i = 0; i < 8; ++i) best.push_back((token + i) % 8);
    evidence.push_back(Row(token, best));
  }
  return evidence;
}

TEST(TokenRecycling, IsSilentUntilTheTargetHasSpoken) {
  const auto drafter = MakeDrafterOrDie(kDefault, {});
  EXPECT_EQ(drafter->evidence_top_k(), 8);
  Proposing text(*drafter);
  EXPECT_EQ(text.DraftTree({1, 2, 3}, {.budget = 10, .max_depth = 10}).num_drafted(), 0);
  const std::vector<EvidenceRow> elsewhere = {Row(7, {8, 9})};
  EXPECT_EQ(text.DraftTree({1, 2, 3}, {.budget = 10, .max_depth = 10, .evidence = elsewhere}).num_drafted(),
            0);
  EXPECT_EQ(text.DraftTree({1, 2, 7}, {.budget = 10, .max_depth = 10}).num_drafted(), 2);
}

TEST(TokenRecycling, LearnsFromEveryRowAndTheLastOneOfAWordWins) {
  const auto drafter = MakeDrafterOrDie(kTwo, {});
  Proposing text(*drafter);
  const std::vector<EvidenceRow> evidence = {Row(1, {2, 3}), Row(2, {9, 9}), Row(2, {5, 6}), Row(3, {1})};
  // Values: 2: .6, 5: .36, 3: .3, 6 and the 1 below 3: .18.
  const TokenTree tree = text.DraftTree({1}, {.budget = 5, .max_depth = 9, .evidence = evidence});
  EXPECT_EQ(Edges(tree), (std::vector<std::pair<TokenId, TokenId>>{{1, 2}, {1, 3}, {2, 5}, {2, 6}, {3, 1}}));
  // A later round replaces what a word had.
  const std::vector<EvidenceRow> later = {Row(1, {4})};
  EXPECT_EQ(Edges(text.DraftTree({1}, {.budget = 5, .max_depth = 9, .evidence = later})),
            (std::vector<std::pair<TokenId, TokenId>>{{1, 4}}));
}

TEST(TokenRecycling, WhereAllIsKnownTheTreeHasThePapersShape) {
  const auto drafter = MakeDrafterOrDie(kDefault, {});
  Proposing text(*drafter);
  const std::vector<EvidenceRow> evidence = EverythingKnown();
  EXPECT_EQ(LevelSizes(text.DraftTree({3}, {.budget = 80, .max_depth = 30, .evidence = evidence})),
            (Tokens{8, 21, 25, 18, 6, 1, 1}));
  EXPECT_EQ(LevelSizes(text.DraftTree({3}, {.budget = 80, .max_depth = 2})),
            (Tokens{8, 64}));  // all that two levels have
}

TEST(TokenRecycling, ASmallerBudgetIsPartOfALargerOne) {
  const auto drafter = MakeDrafterOrDie(kDefault, {});
  Proposing text(*drafter);
  std::vector<Tokens> smaller;
  text.DraftTree({3}, {.budget = 0, .max_depth = 0, .evidence = EverythingKnown()});
  for (int budget = 1; budget <= 40; ++budget) {
    const TokenTree tree = text.DraftTree({3}, {.budget = budget, .max_depth = 30});
    std::vector<Tokens> paths;
    for (int node = 1; node < tree.size(); ++node) paths.push_back(tree.PathTokens(node));
    EXPECT_EQ(static_cast<int>(paths.size()), budget);
    std::sort(paths.begin(), paths.end());
    EXPECT_TRUE(std::includes(paths.begin(), paths.end(), smaller.begin(), smaller.end())) << budget;
    smaller = paths;
  }
}

TEST(TokenRecycling, EveryRequestStartsCold) {
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  TableModel target(*pool, ContextTable::Random(6, 1, 7));
  const auto drafter = MakeDrafterOrDie(kDefault, {});
  Request request;
  request.prompt = {1, 2};
  request.drafter = drafter.get();
  request.verifier = &Rule("greedy");
  request.num_speculative_tokens = 12;
  request.max_new_tokens = 40;
  const Completion first = Complete(target, *pool, request), second = Complete(target, *pool, request);
  EXPECT_EQ(first.rounds[0].drafted, 0);
  EXPECT_EQ(second.rounds[0].drafted, 0);
  EXPECT_EQ(first.result.rounds, second.result.rounds);
  EXPECT_GT(first.result.accepted, 20) << "a table of one word repeats itself soon";
}

TEST(TokenRecycling, RefusesRanksThatGetBetter) {
  for (const char* list : {"[0.1, 0.2]", "[]", "[0]", "[1.5]"}) {
    const std::string json =
        std::string(R"({"type": "token_recycling", "token_recycling": {"acceptance": )") + list + "}}";
    const auto made = MakeDrafter(*ParseJson(json, "test"), {});
    ASSERT_FALSE(made.ok()) << list;
    EXPECT_NE(std::string(made.status().message()).find("drafter.token_recycling.acceptance"),
              std::string::npos)
        << made.status();
  }
}

}  // namespace
}  // namespace forerun
