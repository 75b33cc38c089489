// How several guesses become one tree, and who may use how much of the budget.
#include <vector>

#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;
using Edges = std::vector<std::pair<int, TokenId>>;  // parent's index, token

// Lookup of one word says 8 1 2 3, of three words 7 9 3 8.
const Tokens kText = {1, 2, 3, 7, 9, 3, 8, 1, 2, 3};
constexpr char kShort[] = R"({"type": "ngram", "ngram": {"min": 1, "max": 1})";
constexpr char kLong[] = R"({"type": "ngram", "ngram": {"min": 1, "max": 3})";

std::string Merged(const std::vector<std::string>& parts) {
  std::string json = R"({"type": "merged", "parts": [)";
  for (std::size_t i = 0; i < parts.size(); ++i) json += (i == 0 ? "" : ", ") + parts[i] + "}";
  return json + "]}";
}

Edges Draft(const std::string& json, int budget, int max_depth = 64) {
  const auto drafter = MakeDrafterOrDie(json, {});
  const TokenTree tree = Proposing(*drafter).DraftTree(kText, {.budget = budget, .max_depth = max_depth});
  Edges edges;
  for (const TokenTree::Node& node : tree.nodes().subspan(1)) edges.emplace_back(node.parent, node.token);
  return edges;
}

TEST(Merged, GuessesThatPartAreBranches) {
  EXPECT_EQ(Draft(Merged({kLong, kShort}), 4), (Edges{{0, 7}, {1, 9}, {0, 8}, {3, 1}}));
}

TEST(Merged, WhatTwoAgreeOnIsOneNode) {
  EXPECT_EQ(Draft(Merged({kLong, kLong}), 8), (Edges{{0, 7}, {1, 9}, {2, 3}, {3, 8}}));
  // 7 9 of the first, 7 9 again and then the rest of the second's share.
  const std::string first = std::string(kLong) + R"(, "share": 1)",
                    second = std::string(kLong) + R"(, "share": 3)";
  EXPECT_EQ(Draft(Merged({first, second}), 4), (Edges{{0, 7}, {1, 9}, {2, 3}}));
}

TEST(Merged, SharesAreOfWhatIsLeft) {
  const std::string twice = std::string(kLong) + R"(, "share": 2)";
  EXPECT_EQ(Draft(Merged({twice, kShort}), 3), (Edges{{0, 7}, {1, 9}, {0, 8}}));
  // A part that is silent leaves everything to the next; one node goes to the first.
  EXPECT_EQ(Draft(Merged({R"({"type": "ngram", "ngram": {"min": 4, "max": 4})", kShort}), 3),
            (Edges{{0, 8}, {1, 1}, {2, 2}}));
  EXPECT_EQ(Draft(Merged({kLong, kShort}), 1), (Edges{{0, 7}}));
}

TEST(Merged, ChainsEndWhereNothingDeeperCanStand) {
  EXPECT_EQ(Draft(Merged({kLong, kShort}), 8, 1), (Edges{{0, 7}, {0, 8}}));
}

TEST(Merged, PartsLearnFromTheWholeTree) {
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  TableModel target(*pool, ContextTable::Random(6, 1, 7)), draft(*pool, ContextTable::Random(6, 1, 8));
  const auto drafter = MakeDrafterOrDie(
      R"({"type": "merged", "parts": [{"type": "random"}, {"type": "token_recycling", "share": 4}]})",
      {.target = &target, .draft = &draft, .pool = pool.get()});
  EXPECT_EQ(drafter->evidence_top_k(), 8);
  EXPECT_EQ(drafter->note(), "random + token_recycling");
  Request request;
  request.prompt = {1, 2};
  request.drafter = drafter.get();
  request.verifier = &Rule("greedy");
  request.num_speculative_tokens = 10;
  request.max_new_tokens = 60;
  const Completion completion = Complete(target, *pool, request);
  EXPECT_EQ(CheckRecords(request, completion), "");
  EXPECT_GT(completion.result.accepted, 30);
}

TEST(Merged, RefusesSampledGuessesAndSaysWhichPartIsWrong) {
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  TableModel model(*pool, ContextTable::Random(6, 1, 7));
  const auto message = [&](const std::string& json) {
    const auto made =
        MakeDrafter(*ParseJson(json, "test"), {.target = &model, .draft = &model, .pool = pool.get()});
    return made.ok() ? "" : std::string(made.status().message());
  };
  EXPECT_EQ(message(Merged({kLong, R"({"type": "draft_model", "sample": "sampled")"})),
            "drafter.parts.1: expected deterministic guesses, found sampled ones of draft_model");
  EXPECT_EQ(message(Merged({kLong, R"({"type": "ngram", "ngram": {"min": 0})"})).find("drafter.parts.1: "),
            0u);
  EXPECT_NE(message(Merged({std::string(kLong) + R"(, "share": 0)"})).find("drafter.parts.0.share"),
            std::string::npos);
  EXPECT_NE(message(R"({"type": "merged", "parts": []})").find("at least one"), std::string::npos);
}

}  // namespace
}  // namespace forerun
