// What a drafter is shown of the target's last forward, and how far it may go.
#include <algorithm>

#include "core/engine/engine.h"
#include "core/model/table_model.h"
#include "core/model/top_tokens.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

constexpr int kVocab = 8;
constexpr int kTopK = 3;

// Drafts a bush of two levels, one wrong and one right branch, and checks every piece of evidence.
class Witness final : public Drafter {
 public:
  explicit Witness(const TableModel& target) : target_(target) {}
  absl::string_view name() const override { return "witness"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  bool chains_only() const override { return false; }
  int evidence_top_k() const override { return kTopK; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<DrafterState>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      Check(task);
      if (task.budget < 4 || task.max_depth < 1) continue;
      const std::vector<ScoredToken> best =
          BestAfter(std::vector(task.committed.begin(), task.committed.end()));
      const int right = task.tree->Add(0, best[0].token);
      task.tree->Add(0, best[1].token);
      if (task.max_depth < 2) continue;
      task.tree->Add(right, 0);
      task.tree->Add(right, 1);
    }
    return absl::OkStatus();
  }

  int rows_seen = 0, rejected_seen = 0, deepest = 0;

 private:
  std::vector<ScoredToken> BestAfter(const std::vector<TokenId>& context) const {
    return BestTokens(target_.Logits(context), kTopK);
  }

  void Check(const DraftTask& task) {
    if (task.target_table == nullptr) {
      EXPECT_EQ(task.budget, 0);
      EXPECT_TRUE(task.evidence.empty());
      return;
    }
    ASSERT_EQ(task.target_table->committed(), static_cast<int>(task.committed.size()) - 1);
    int last_committed = -1;
    for (std::size_t row = 0; row < task.evidence.size(); ++row) {
      const EvidenceRow& evidence = task.evidence[row];
      ASSERT_LT(evidence.parent, static_cast<int>(row));
      std::vector<TokenId> path;
      for (int at = static_cast<int>(row); at >= 0; at = task.evidence[at].parent)
        path.push_back(task.evidence[at].token);
      const int64_t root = task.evidence[0].position;
      ASSERT_EQ(evidence.position, root + static_cast<int64_t>(path.size()) - 1);
      std::vector<TokenId> context(task.committed.begin(), task.committed.begin() + root);
      context.insert(context.end(), path.rbegin(), path.rend());
      EXPECT_EQ(evidence.top, BestAfter(context));
      const bool stands = context.size() <= task.committed.size() &&
                          std::equal(context.begin(), context.end(), task.committed.begin());
      EXPECT_EQ(evidence.committed, stands && evidence.position < std::ssize(task.committed) - 1);
      if (evidence.committed) last_committed = static_cast<int>(evidence.position);
      ++rows_seen;
      rejected_seen += !evidence.committed;
      deepest = std::max(deepest, static_cast<int>(path.size()) - 1);
    }
    if (task.evidence.empty()) return;
    EXPECT_EQ(last_committed, static_cast<int>(task.committed.size()) - 2);
  }

  const TableModel& target_;
};

TEST(Evidence, ShowsEveryRowOfTheLastTree) {
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  TableModel target(*pool, ContextTable::Random(kVocab, 2, 7));
  for (const float temperature : {0.0f, 1.0f}) {
    Witness witness(target);
    Request request;
    request.id = 1;
    request.prompt = {1, 2, 3};
    request.drafter = &witness;
    request.num_speculative_tokens = 6;
    request.sampling.temperature = temperature;
    request.verifier = &Rule("exact_match");
    request.max_new_tokens = 60;
    const Completion completion = Complete(target, *pool, request);
    EXPECT_EQ(completion.result.output.size(), 60u);
    EXPECT_EQ(CheckRecords(request, completion), "");
    EXPECT_GT(witness.rows_seen, 100);
    EXPECT_GT(witness.rejected_seen, 30);
    EXPECT_EQ(witness.deepest, 2);
    EXPECT_EQ(completion.rounds.back().drafted > 0, completion.rounds.back().max_depth > 0);
  }
}

TEST(TreeBudget, NearTheEndOnlyDepthIsCut) {
  const auto pool = *KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16});
  TableModel target(*pool, ContextTable::Random(kVocab, 2, 7));
  Witness witness(target);
  Request request;
  request.id = 1;
  request.prompt = {1, 2, 3};
  request.drafter = &witness;
  request.num_speculative_tokens = 6;
  request.verifier = &Rule("greedy");
  request.max_new_tokens = 2;
  const Completion completion = Complete(target, *pool, request);
  ASSERT_EQ(completion.rounds.size(), 1u);
  EXPECT_EQ(completion.rounds[0].budget, 6);
  EXPECT_EQ(completion.rounds[0].drafted, 2);  // one level of the bush
  EXPECT_TRUE(completion.rounds[0].length_limited);
  EXPECT_EQ(completion.result.output.size(), 2u);
}

}  // namespace
}  // namespace forerun
