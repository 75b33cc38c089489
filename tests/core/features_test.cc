// What a drafter is shown of the target's hidden states: those of every committed row, once, in order.
#include <algorithm>

#include "core/engine/engine.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/scoring.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

constexpr int kTaps[] = {3, 0};

// Drafts a bush around the target's own words, so that some of it stands, and keeps what it is shown.
class Collector final : public Drafter {
 public:
  Collector(std::vector<TokenId> text, bool bush) : text_(std::move(text)), bush_(bush) {}
  absl::string_view name() const override { return "collector"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  bool chains_only() const override { return !bush_; }
  std::vector<int> taps() const override { return {kTaps[0], kTaps[1]}; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<State>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      Collect(*static_cast<State*>(task.state), task);
      for (int i = 0, parent = 0; i < task.budget && i < task.max_depth; ++i) {
        const std::size_t at = task.committed.size() + i;
        const TokenId right = at < text_.size() ? text_[at] : 0;
        const TokenId wrong = right == 7 ? 8 : 7;
        if (bush_ && task.tree->num_drafted() + 2 <= task.budget) task.tree->Add(parent, wrong);
        if (task.tree->num_drafted() == task.budget) break;
        parent = task.tree->Add(parent, at % 5 == 0 ? wrong + 2 : right);
      }
    }
    return absl::OkStatus();
  }

  std::vector<float> seen[2];  // of the only sequence
  int calls = 0, without = 0;

 private:
  struct State final : DrafterState {
    int64_t rows = 0;
  };

  void Collect(State& state, const DraftTask& task) {
    ++calls;
    if (task.features == nullptr) {
      ++without;
    } else {
      ASSERT_EQ(task.features->first_position, state.rows) << "no row twice, none left out";
      state.rows += task.features->rows;
      for (int tap = 0; tap < 2; ++tap) {
        const std::vector<float>& rows = task.features->taps[tap];
        ASSERT_EQ(rows.size(), static_cast<std::size_t>(task.features->rows) * task.features->width);
        seen[tap].insert(seen[tap].end(), rows.begin(), rows.end());
      }
    }
    if (task.target_table != nullptr) {
      ASSERT_EQ(state.rows, task.target_table->committed());
      ASSERT_EQ(state.rows, std::ssize(task.committed) - 1);
    }
  }

  std::vector<TokenId> text_;
  bool bush_;
};

class FeaturesTest : public testing::Test {
 protected:
  Request MakeRequest(uint64_t id) {
    Request request;
    request.id = id;
    request.prompt = *target_.tokenizer().Encode("def main(argv):\n    for name in argv:\n        ", {});
    request.verifier = &Rule("greedy");
    request.max_new_tokens = 30;
    request.num_speculative_tokens = 5;
    return request;
  }
  // Computed row by row, with no drafter.
  std::vector<std::vector<float>> Expected(const std::vector<TokenId>& text) {
    BlockTable table(*target_.pool, target_.model().kv_layout_id());
    std::vector<std::vector<float>> states(2);
    for (const TokenId token : text) {
      EXPECT_TRUE(table.Reserve(1).ok());
      ForwardBatch batch{.rows = {{.token = token, .tapped = true}},
                         .segments = {{&table, 0, 1, true}},
                         .taps = {kTaps[0], kTaps[1]}};
      const ForwardResult result = *target_.model().Forward(batch);
      table.CommitAll();
      for (int tap = 0; tap < 2; ++tap) {
        states[tap].insert(states[tap].end(), result.taps[tap].begin(), result.taps[tap].end());
      }
    }
    return states;
  }

  TestModel target_{TinyTargetPath(), {}, 1};
};

TEST_F(FeaturesTest, EveryCommittedRowOnceInOrder) {
  Request plain = MakeRequest(1);
  std::vector<TokenId> text = plain.prompt;
  const std::vector<TokenId> output = Complete(target_.model(), *target_.pool, plain).result.output;
  text.insert(text.end(), output.begin(), output.end());
  Collector chain(text, false), bush(text, true);
  // Beside a sequence without taps, in small chunks: rows of the batch are not rows of the sequence.
  std::vector<Request> requests = {MakeRequest(1), MakeRequest(2), MakeRequest(3)};
  requests[1].drafter = &chain;
  requests[2].drafter = &bush;
  const std::vector<Completion> together =
      CompleteAll(target_.model(), *target_.pool, requests, {.max_batch_rows = 24, .prefill_chunk = 5});
  const std::vector<std::vector<float>> expected = Expected(text);
  const int width = target_.model().backbone()->width();
  for (const Collector* collector : {&chain, &bush}) {
    EXPECT_GT(collector->calls, 6);
    EXPECT_EQ(collector->without, 1) << "before the first chunk alone";
    for (int tap = 0; tap < 2; ++tap) {
      const std::vector<float>& seen = collector->seen[tap];
      ASSERT_GT(seen.size(), (requests[0].prompt.size() + 15) * width);
      ASSERT_LE(seen.size(), expected[tap].size());
      EXPECT_TRUE(
          SameBits(seen, std::vector<float>(expected[tap].begin(), expected[tap].begin() + seen.size())));
    }
  }
  for (const Completion& completion : together) EXPECT_EQ(completion.result.output, output);
  EXPECT_GT(together[1].result.accepted, 0);
  EXPECT_GT(together[2].result.accepted, 0);
  EXPECT_LT(together[2].result.accepted, together[2].result.drafted);
}

TEST_F(FeaturesTest, AreKeptWhereABudgetOfZeroLeavesNothingToPropose) {
  Request request = MakeRequest(1);
  Collector collector({}, false);
  request.drafter = &collector;
  // One row a forward: no room for a draft.
  const Completion completion = Complete(target_.model(), *target_.pool, request, {.max_batch_rows = 1});
  EXPECT_EQ(completion.result.drafted, 0);
  EXPECT_EQ(collector.seen[0].size(), (request.prompt.size() + 29 - 1) * target_.model().backbone()->width());
}

}  // namespace
}  // namespace forerun
