// What every drafter owes the engine, run over the registry: a new line in drafter_list.inc is tested by
// being there.
#include <algorithm>

#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"

namespace forerun {
namespace {

constexpr int kVocab = 6;

class DrafterContract : public testing::TestWithParam<DrafterInfo> {
 protected:
  DrafterContract()
      : pool_(*KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16})),
        target_(*pool_, ContextTable::Random(kVocab, 2, 1)),
        draft_(*pool_, ContextTable::Random(kVocab, 1, 2)),
        drafter_(MakeDrafterOrDie(std::string(R"({"type": ")") + GetParam().key + R"("})",
                                  {.target = &target_, .draft = &draft_, .pool = pool_.get()})) {}

  // One proposal for `committed` with a state that has seen what it has seen.
  TokenTree Propose(DrafterState* state, const std::vector<TokenId>& committed, int budget,
                    uint64_t seed = 5) {
    sampling_.seed = seed;
    TokenTree tree(committed.back());
    DraftTask task{.state = state,
                   .committed = committed,
                   .prompt_length = 1,
                   .sampling = &sampling_,
                   .request = 3,
                   .budget = budget,
                   .max_depth = budget,
                   .tree = &tree,
                   .status = absl::OkStatus()};
    EXPECT_TRUE(drafter_->Propose({&task, 1}).ok());
    EXPECT_TRUE(task.status.ok()) << task.status;
    return tree;
  }
  std::unique_ptr<DrafterState> Open() { return *drafter_->Open(); }
  static std::vector<TokenId> TokensOf(const TokenTree& tree) {
    std::vector<TokenId> tokens;
    for (const TokenTree::Node& node : tree.nodes()) tokens.push_back(node.token);
    return tokens;
  }
  std::vector<TokenId> Context(int length) const {
    std::vector<TokenId> context;
    for (int i = 0; i < length; ++i) context.push_back((i * 7 + i / 3) % kVocab);
    return context;
  }

  std::unique_ptr<KvPool> pool_;
  TableModel target_, draft_;
  std::unique_ptr<Drafter> drafter_;
  Sampling sampling_;
};

TEST_P(DrafterContract, TreesAreWellFormedAndWithinBudget) {
  for (const float temperature : {0.0f, 1.0f}) {
    sampling_.temperature = temperature;
    const auto state = Open();
    for (const int length : {1, 2, 3, 17, 40}) {
      for (const int budget : {1, 2, 7}) {
        const TokenTree tree = Propose(state.get(), Context(length), budget);
        EXPECT_EQ(tree.node(0).token, Context(length).back());
        EXPECT_LE(tree.num_drafted(), budget);
        for (const TokenTree::Node& node : tree.nodes()) EXPECT_TRUE(node.token >= 0 && node.token < kVocab);
        if (drafter_->chains_only()) {
          EXPECT_TRUE(tree.is_chain());
        }
        for (int node = 0; node < tree.size(); ++node) {
          if (tree.Children(node).empty()) continue;
          EXPECT_EQ(tree.proposal(node), drafter_->proposal(sampling_));
          EXPECT_EQ(tree.q(node) != nullptr, tree.proposal(node) != Proposal::kDeterministic);
        }
      }
    }
  }
}

TEST_P(DrafterContract, TheSameSeedGivesTheSameTreeWhateverTheStateSawBefore) {
  for (const float temperature : {0.0f, 1.0f}) {
    sampling_.temperature = temperature;
    const auto fresh = Open();
    const std::vector<TokenId> expected = TokensOf(Propose(fresh.get(), Context(30), 5));
    const auto used = Open();
    Propose(used.get(), Context(4), 3);  // rounds were skipped since
    Propose(used.get(), Context(21), 5);
    std::vector<TokenId> other = Context(26);
    std::fill(other.begin() + 9, other.end(), TokenId{0});  // a text that turned out otherwise
    Propose(used.get(), other, 5);
    Propose(used.get(), Context(12), 0);  // only catching up
    EXPECT_EQ(TokensOf(Propose(used.get(), Context(30), 5)), expected);
  }
}

TEST_P(DrafterContract, SequencesTogetherAreAsEachAlone) {
  sampling_.temperature = 1;
  std::vector<std::unique_ptr<DrafterState>> states;
  std::vector<std::vector<TokenId>> contexts;
  std::vector<TokenTree> trees;
  std::vector<DraftTask> tasks;
  for (int i = 0; i < 5; ++i) {
    states.push_back(Open());
    contexts.push_back(Context(1 + 9 * i));
    trees.emplace_back(contexts.back().back());
  }
  for (int i = 0; i < 5; ++i) {
    tasks.push_back({.state = states[i].get(),
                     .committed = contexts[i],
                     .prompt_length = 1,
                     .sampling = &sampling_,
                     .request = 3,
                     .budget = 1 + i,
                     .tree = &trees[i],
                     .status = absl::OkStatus()});
  }
  sampling_.seed = 5;
  ASSERT_TRUE(drafter_->Propose(tasks).ok());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(TokensOf(trees[i]), TokensOf(Propose(Open().get(), contexts[i], 1 + i))) << "sequence " << i;
  }
}

TEST_P(DrafterContract, ReleasesEverythingWithTheSequence) {
  const auto before = pool_->usage().blocks_in_use;
  auto state = Open();
  Propose(state.get(), Context(50), 6);
  state.reset();
  EXPECT_EQ(pool_->usage().blocks_in_use, before);
}

TEST_P(DrafterContract, RunningOutOfMemoryEndsOneTaskOnly) {
  sampling_.temperature = 0;
  BlockTable hog(*pool_, target_.kv_layout_id());
  BlockTable draft_hog(*pool_, draft_.kv_layout_id());
  while (hog.Reserve(kBlockTokens).ok()) hog.CommitAll();
  while (draft_hog.Reserve(kBlockTokens).ok()) draft_hog.CommitAll();
  const auto state = Open();
  const std::vector<TokenId> context = Context(40);
  TokenTree tree(context.back());
  DraftTask task{.state = state.get(),
                 .committed = context,
                 .prompt_length = 1,
                 .sampling = &sampling_,
                 .request = 3,
                 .budget = 4,
                 .tree = &tree,
                 .status = absl::OkStatus()};
  EXPECT_TRUE(drafter_->Propose({&task, 1}).ok()) << "the step goes on";
  EXPECT_TRUE(task.status.ok() || absl::IsResourceExhausted(task.status));
}

TEST_P(DrafterContract, GreedyTextIsThatOfPlainDecoding) {
  Request request;
  request.prompt = {1, 2, 3};
  request.verifier = &Rule("greedy");
  request.max_new_tokens = 50;
  const std::vector<TokenId> plain = Complete(target_, *pool_, request).result.output;
  request.drafter = drafter_.get();
  for (const int k : {1, 2, 5}) {
    request.num_speculative_tokens = k;
    EXPECT_EQ(Complete(target_, *pool_, request).result.output, plain) << "K = " << k;
  }
}

TEST_P(DrafterContract, AnUnknownOptionIsRefusedByName) {
  const Json options =
      *ParseJson(std::string(R"({"type": ")") + GetParam().key + R"(", "nonsense": 1})", "test");
  const auto made = MakeDrafter(options, {.target = &target_, .draft = &draft_, .pool = pool_.get()});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(std::string(made.status().message()).find("nonsense"), std::string::npos) << made.status();
}

INSTANTIATE_TEST_SUITE_P(Registry, DrafterContract, testing::ValuesIn(ListDrafters()),
                         [](const auto& info) { return std::string(info.param.key); });

TEST(DrafterRegistry, NamesWhatItKnows) {
  const auto made = MakeDrafter(*ParseJson(R"({"type": "ngrm"})", "test"), {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(std::string(made.status().message()).find("ngram"), std::string::npos) << made.status();
}

TEST(DrafterRegistry, ADraftModelThatIsMissingIsNamed) {
  const auto made = MakeDrafter(*ParseJson(R"({"type": "draft_model"})", "test"), {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(std::string(made.status().message()).find("draft model"), std::string::npos) << made.status();
}

}  // namespace
}  // namespace forerun
