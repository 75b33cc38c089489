// What a draft costs: the forwards and rows of the draft model.
#include <vector>

#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

constexpr int kVocab = 6;
using Tokens = std::vector<TokenId>;

class ModelChain : public testing::Test {
 protected:
  // The text of `length` tokens.
  static Tokens Text(int length) {
    Tokens text;
    for (int i = 0; i < length; ++i) text.push_back(static_cast<TokenId>((i * 7 + i / 3) % kVocab));
    return text;
  }
  struct Cost {
    int64_t forwards, rows;
    friend bool operator==(const Cost&, const Cost&) = default;
  };
  Cost Spent() {
    const Model::Counters now = draft_.counters();
    const Cost cost = {now.forwards - seen_.forwards, now.rows - seen_.rows};
    seen_ = now;
    return cost;
  }

  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  TableModel target_{*pool_, ContextTable::Random(kVocab, 2, 1)};
  TableModel draft_{*pool_, ContextTable::Random(kVocab, 2, 2)};
  std::unique_ptr<Drafter> drafter_ = MakeDrafterOrDie(
      R"({"type": "draft_model"})", {.target = &target_, .draft = &draft_, .pool = pool_.get()});
  Model::Counters seen_;
};

TEST_F(ModelChain, ReadsWhatItMissedTogetherWithTheRoot) {
  Proposing text(*drafter_);
  Tokens committed = Text(20);
  const Tokens first = text.Draft(committed, 3);
  EXPECT_EQ(Spent(), (Cost{3, 20 + 2}));
  // All accepted, and a bonus: the last draft was never read, the bonus is the root.
  committed.insert(committed.end(), first.begin(), first.end());
  committed.push_back(4);
  const Tokens second = text.Draft(committed, 3);
  EXPECT_EQ(Spent(), (Cost{3, 2 + 2}));
  // None accepted: only the correction is read.
  committed.push_back((second[0] + 1) % kVocab);
  text.Draft(committed, 3);
  EXPECT_EQ(Spent(), (Cost{3, 1 + 2}));
  // Rounds without a draft in between.
  const Tokens more = Text(40);
  committed.insert(committed.end(), more.begin(), more.end());
  text.Draft(committed, 1);
  EXPECT_EQ(Spent(), (Cost{1, 40}));
}

TEST_F(ModelChain, FarBehindItReadsInChunksFirst) {
  Proposing text(*drafter_);
  text.Draft(Text(600), 2);
  EXPECT_EQ(Spent(), (Cost{3 + 2, 600 + 1}));
}

TEST_F(ModelChain, WithoutABudgetItReadsAllButTheRoot) {
  Proposing text(*drafter_);
  EXPECT_EQ(text.Draft(Text(30), 0), Tokens{});
  EXPECT_EQ(Spent(), (Cost{1, 29}));
  text.Draft(Text(30), 1);
  EXPECT_EQ(Spent(), (Cost{1, 1}));
}

TEST_F(ModelChain, SequencesThatLagDifferentlyShareEveryForward) {
  const Sampling sampling;
  std::vector<std::unique_ptr<DrafterState>> states;
  std::vector<Tokens> texts;
  std::vector<TokenTree> trees;
  for (int i = 0; i < 4; ++i) {
    states.push_back(*drafter_->Open());
    texts.push_back(Text(1 + 13 * i));
    trees.emplace_back(texts.back().back());
  }
  std::vector<DraftTask> tasks;
  for (int i = 0; i < 4; ++i) {
    tasks.push_back({.state = states[i].get(),
                     .committed = texts[i],
                     .prompt_length = 1,
                     .sampling = &sampling,
                     .request = 3,
                     .budget = 1 + i,
                     .tree = &trees[i],
                     .status = absl::OkStatus()});
  }
  ASSERT_TRUE(drafter_->Propose(tasks).ok());
  EXPECT_EQ(Spent(), (Cost{4, (1 + 14 + 27 + 40) + 3 + 2 + 1}));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(trees[i].PathTokens(trees[i].size() - 1), Proposing(*drafter_).Draft(texts[i], 1 + i));
  }
}

}  // namespace
}  // namespace forerun
