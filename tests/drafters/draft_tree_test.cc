// Every form of tree: what it holds, what it costs, and that a chain is one of them.
#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/model/table_model.h"
#include "core/tree/sequoia.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;
constexpr int kVocab = 6;

std::string Options(const std::string& tree, const std::string& sample = "greedy") {
  return absl::StrCat(R"({"type": "draft_tree", "sample": ")", sample, R"(", "tree": )", tree, "}");
}
constexpr char kWide[] = R"({"type": "static", "widths": [3, 2, 1]})";
constexpr char kPaths[] = R"({"type": "static", "paths": [[0], [1], [0, 0], [0, 1], [0, 0, 0]]})";
constexpr char kChain[] = R"({"type": "static", "widths": [1, 1, 1, 1, 1, 1, 1, 1]})";
constexpr char kSequoia[] = R"({"type": "sequoia", "acceptance": [0.6, 0.2, 0.1]})";
constexpr char kDynamic[] = R"({"type": "dynamic", "top_k": 3, "depth": 4})";
constexpr char kOpt[] = R"({"type": "opt", "threshold": 0.1})";
constexpr char kDySpec[] = R"({"type": "dyspec"})";
constexpr char kAuto[] = R"({"type": "auto", "max_nodes": 12})";

std::vector<std::string> AllOptions() {
  std::vector<std::string> all;
  for (const char* tree : {kWide, kPaths, kChain, kSequoia, kDynamic, kOpt, kDySpec, kAuto})
    all.push_back(Options(tree));
  for (const char* sample : {"sampled", "sampled_without_replacement", "coupled"}) {
    for (const char* tree : {kWide, kPaths, kChain, kSequoia, kAuto}) all.push_back(Options(tree, sample));
  }
  all.push_back(Options(kDySpec, "sampled_without_replacement"));
  return all;
}

class DraftTree : public testing::Test {
 protected:
  DrafterResources resources() { return {.target = &target_, .draft = &draft_, .pool = pool_.get()}; }
  std::unique_ptr<Drafter> Make(const std::string& json) { return MakeDrafterOrDie(json, resources()); }
  static Tokens Text(int length) {
    Tokens text;
    for (int i = 0; i < length; ++i) text.push_back(static_cast<TokenId>((i * 7 + i / 3) % kVocab));
    return text;
  }
  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  TableModel target_{*pool_, ContextTable::Random(kVocab, 2, 1)};
  TableModel draft_{*pool_, ContextTable::Random(kVocab, 2, 2), 512};
};

TEST_F(DraftTree, KeepsToBudgetAndDepthAndLeavesNoPagesBehind) {
  const int64_t before = pool_->usage().blocks_in_use;
  for (const std::string& options : AllOptions()) {
    const auto drafter = Make(options);
    std::set<int> sizes;
    for (const float temperature : {0.0f, 1.0f}) {
      Proposing text(*drafter);
      for (const int length : {1, 2, 40, 41, 40}) {
        for (const int budget : {1, 2, 7, 40}) {
          for (const int max_depth : {1, 2, 20}) {
            const Sampling sampling{.temperature = temperature, .seed = 5};
            const TokenTree tree = text.DraftTree(
                Text(length), {.budget = budget, .max_depth = max_depth, .sampling = sampling});
            EXPECT_LE(tree.num_drafted(), budget) << options;
            EXPECT_LE(tree.max_depth(), max_depth) << options;
            EXPECT_TRUE(!drafter->chains_only() || tree.is_chain());
            for (int node = 0; node < tree.size(); ++node) {
              if (tree.Children(node).empty()) continue;
              EXPECT_EQ(tree.proposal(node), drafter->proposal(sampling)) << options;
              EXPECT_EQ(tree.q(node) != nullptr, tree.proposal(node) != Proposal::kDeterministic);
            }
            sizes.insert(tree.num_drafted());
          }
        }
      }
    }
    const bool may_choose_nothing = options.find("auto") != std::string::npos;
    EXPECT_GT(sizes.size(), may_choose_nothing ? 0u : 2u) << options;
  }
  EXPECT_EQ(pool_->usage().blocks_in_use, before);
}

TEST_F(DraftTree, OfOneChildNodesIsTheDraftModelsChain) {
  for (const char* sample : {"greedy", "sampled", "coupled"}) {
    const auto tree = Make(Options(kChain, sample));
    const auto chain = Make(absl::StrCat(R"({"type": "draft_model", "sample": ")", sample, R"("})"));
    EXPECT_TRUE(tree->chains_only());
    Proposing tree_text(*tree), chain_text(*chain);
    for (const Sampling& sampling : {Sampling{}, Sampling{.repetition_penalty = 1.4f},
                                     Sampling{.temperature = 0.8f, .top_p = 0.9f, .seed = 9}}) {
      for (int length = 1; length < 30; ++length) {
        EXPECT_EQ(tree_text.Draft(Text(length), 1 + length % 8, sampling),
                  chain_text.Draft(Text(length), 1 + length % 8, sampling))
            << sample << ", length " << length;
      }
    }
  }
}

TEST_F(DraftTree, StaticFormsHoldTheBestWordsOfEachNode) {
  const Tokens text = Text(9);
  for (const char* form : {kWide, kPaths}) {
    const auto drafter = Make(Options(form));
    const TokenTree tree = Proposing(*drafter).DraftTree(text, {.budget = 64});
    EXPECT_EQ(tree.num_drafted(), form == kWide ? 3 + 6 + 6 : 5);
    for (int node = 0; node < tree.size(); ++node) {
      Tokens context = text;
      for (const TokenId token : tree.PathTokens(node)) context.push_back(token);
      const std::span<const double> row = draft_.table().Row(context);
      std::vector<TokenId> best(kVocab);
      std::iota(best.begin(), best.end(), 0);
      std::stable_sort(best.begin(), best.end(), [row](TokenId a, TokenId b) { return row[a] > row[b]; });
      const std::vector<int> children = tree.Children(node);
      for (std::size_t rank = 0; rank < children.size(); ++rank)
        EXPECT_EQ(tree.node(children[rank]).token, best[rank]);
    }
  }
}

TEST_F(DraftTree, SequoiaTakesTheBestFormForTheBudget) {
  const auto drafter = Make(Options(kSequoia));
  const SequoiaTable table(std::vector<double>{0.6, 0.2, 0.1}, 41, 33);
  for (const int budget : {1, 5, 8, 20, 40}) {
    for (const int max_depth : {1, 3, 30}) {
      const TokenTree tree =
          Proposing(*drafter).DraftTree(Text(9), {.budget = budget, .max_depth = max_depth});
      const TreeShape shape = table.Shape(table.BestSize(budget + 1, max_depth + 1), max_depth + 1);
      ASSERT_EQ(tree.size(), shape.size());
      for (int node = 0; node < tree.size(); ++node) EXPECT_EQ(tree.node(node).parent, shape.parent(node));
    }
  }
}

TEST_F(DraftTree, CostsAForwardALevelOverAllSequencesAndKeepsTheAcceptedRows) {
  const auto drafter = Make(Options(kWide));
  std::vector<std::unique_ptr<DrafterState>> states;
  std::vector<Tokens> texts;
  std::vector<TokenTree> trees;
  for (int i = 0; i < 3; ++i) {
    states.push_back(*drafter->Open());
    texts.push_back(Text(1 + 13 * i));
  }
  const Sampling sampling;
  const auto propose = [&] {
    trees.clear();
    std::vector<DraftTask> tasks;
    for (const Tokens& text : texts) trees.emplace_back(text.back());
    for (int i = 0; i < 3; ++i) {
      tasks.push_back({.state = states[i].get(),
                       .committed = texts[i],
                       .prompt_length = 1,
                       .sampling = &sampling,
                       .request = 3,
                       .budget = 15,
                       .max_depth = 9,
                       .tree = &trees[i],
                       .status = absl::OkStatus()});
    }
    const Model::Counters before = draft_.counters();
    EXPECT_TRUE(drafter->Propose(tasks).ok());
    EXPECT_EQ(draft_.counters().forwards - before.forwards, 3);
    return draft_.counters().rows - before.rows;
  };
  EXPECT_EQ(propose(), (1 + 14 + 27) + 3 * (3 + 6));
  // Sequence 0: two of a path accepted, and a bonus; 1: a leaf accepted; 2: nothing.
  const std::vector<TokenTree> proposed = trees;
  for (const TokenId token : proposed[0].PathTokens(8)) texts[0].push_back(token);
  for (const TokenId token : proposed[1].PathTokens(14)) texts[1].push_back(token);
  for (Tokens& text : texts) text.push_back(3);
  EXPECT_EQ(propose(), (1 + 2 + 1) + 3 * (3 + 6));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(TreeText(trees[i]), TreeText(Proposing(*drafter).DraftTree(texts[i], {.budget = 15})));
  }
}

TEST_F(DraftTree, IsSilentAtTheEndOfTheDraftModelsContext) {
  for (const char* form : {kWide, kDynamic, kDySpec}) {
    const auto drafter = Make(Options(form));
    EXPECT_EQ(Proposing(*drafter).DraftTree(Text(510), {.budget = 9}).max_depth(), 2);
    EXPECT_EQ(Proposing(*drafter).DraftTree(Text(512), {.budget = 9}).size(), 1);
    EXPECT_EQ(Proposing(*drafter).DraftTree(Text(600), {.budget = 9}).size(), 1);
  }
}

}  // namespace
}  // namespace forerun
