// Trees of draws keep the law of their draft: rules that trust it give the target's own law of the first
// three tokens together, through the real drafter and engine. Wrong rules, and a form that looks at the token
// that it decides about, are seen.
#include <cmath>

#include "core/model/table_model.h"
#include "drafters/trees/tree_children.h"
#include "experiments/lossless/chi_square.h"
#include "experiments/lossless/faulty_rules.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/rules.h"

namespace forerun {
namespace {

constexpr int kVocab = 6;
constexpr int kTexts = 15000;
constexpr int kTokens = 3;
constexpr double kAlarm = 1e-7;  // family-wise false alarm below 1e-5
const std::vector<TokenId> kPrompt = {1, 3};

// tree_recursive with a mistake: draws without replacement are judged as if they were independent.
class Forgetful final : public FaultyRule {
 public:
  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    TokenTree independent(tree.node(0).token);
    for (int node = 0; node < tree.size(); ++node) {
      if (tree.q(node) != nullptr) independent.SetProposal(node, Proposal::kSampled, *tree.q(node));
      if (node + 1 < tree.size()) independent.Add(tree.node(node + 1).parent, tree.node(node + 1).token);
    }
    return Rule("tree_recursive").Verify(independent, target, randoms);
  }
};

// Drops a drawn second child of the root that the draft finds unlikely.
class Peeking final : public Drafter {
 public:
  explicit Peeking(Drafter& inner) : inner_(inner) {}
  absl::string_view name() const override { return "peeking"; }
  Proposal proposal(const Sampling& sampling) const override { return inner_.proposal(sampling); }
  bool chains_only() const override { return false; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return inner_.Open(); }
  absl::Status Propose(std::span<DraftTask> tasks) override {
    const absl::Status status = inner_.Propose(tasks);
    for (DraftTask& task : tasks) {
      const TokenTree& whole = *task.tree;
      if (whole.size() < 3) continue;
      const Distribution q = *whole.q(0);
      TokenTree cut(whole.node(0).token);
      cut.Add(0, whole.node(1).token);
      if (q[whole.node(2).token] > 0.2) cut.Add(0, whole.node(2).token);
      cut.SetProposal(0, whole.proposal(0), q);
      *task.tree = std::move(cut);
    }
    return status;
  }

 private:
  Drafter& inner_;
};

class TreeLaw : public testing::Test {
 protected:
  std::unique_ptr<Drafter> Make(const std::string& json) {
    return MakeDrafterOrDie(json, {.target = &target_, .draft = &draft_, .pool = pool_.get()});
  }
  double PValue(Drafter& drafter, const Verifier& rule, const Sampling& sampling) {
    std::vector<int64_t> counts(kVocab * kVocab * kVocab, 0);
    Request request;
    request.prompt = kPrompt;
    request.drafter = &drafter;
    request.verifier = &rule;
    request.num_speculative_tokens = 6;
    request.sampling = sampling;
    request.max_new_tokens = kTokens;
    const std::vector<RequestResult> results =
        CompleteMany(target_, *pool_, request, kTexts, {.max_sequences = 64, .max_batch_rows = 1024});
    int64_t accepted = 0;
    for (const RequestResult& result : results) {
      ++counts[Cell(result.output)];
      accepted += result.accepted;
    }
    EXPECT_GT(accepted, kTexts / 8);
    return ChiSquarePValue(counts, ExpectedLaw(sampling));
  }
  static int Cell(std::span<const TokenId> tokens) {
    return (tokens[0] * kVocab + tokens[1]) * kVocab + tokens[2];
  }
  std::vector<double> ExpectedLaw(const Sampling& sampling) const {
    std::vector<double> law(kVocab * kVocab * kVocab, 0);
    std::vector<TokenId> text = kPrompt;
    const auto after = [&] { return Distribution::FromLogits(target_.Logits(text), sampling, {}); };
    const Distribution first = after();
    for (const TokenId a : first.tokens()) {
      text = {kPrompt[0], kPrompt[1], a};
      const Distribution second = after();
      for (const TokenId b : second.tokens()) {
        text = {kPrompt[0], kPrompt[1], a, b};
        const Distribution third = after();
        for (const TokenId c : third.tokens())
          law[Cell(std::vector<TokenId>{a, b, c})] = first[a] * second[b] * third[c];
      }
    }
    return law;
  }

  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  TableModel target_{*pool_, ContextTable::Random(kVocab, 2, 11, true)};
  TableModel draft_{*pool_, ContextTable::Random(kVocab, 1, 12)};
};

constexpr char kStatic[] =
    R"({"type": "draft_tree", "tree": {"type": "static", "widths": [2, 2]}, "sample": ")";
constexpr char kSequoia[] = R"({"type": "draft_tree", "tree": {"type": "sequoia"}, "sample": ")";
constexpr char kDySpec[] = R"({"type": "draft_tree", "tree": {"type": "dyspec"}, "sample": ")";
const Sampling kPlain{.temperature = 1, .seed = 77};
const Sampling kWarped{.temperature = 0.7f, .top_k = 4, .top_p = 0.9f, .seed = 78};

TEST_F(TreeLaw, SlowExactMatchWhateverTheTree) {
  for (const char* sample : {"greedy", "sampled", "sampled_without_replacement", "coupled"})
    EXPECT_GT(PValue(*Make(std::string(kSequoia) + sample + "\"}"), Rule("exact_match"), kPlain), kAlarm)
        << sample;
}

TEST_F(TreeLaw, SlowRecursiveRuleOfFixedForms) {
  for (const char* form : {kStatic, kSequoia}) {
    for (const char* sample : {"greedy", "sampled", "sampled_without_replacement", "coupled"}) {
      const auto drafter = Make(std::string(form) + sample + "\"}");
      EXPECT_GT(PValue(*drafter, Rule("tree_recursive"), kPlain), kAlarm) << form << sample;
      EXPECT_GT(PValue(*drafter, Rule("tree_recursive"), kWarped), kAlarm) << form << sample << " warped";
    }
  }
}

TEST_F(TreeLaw, SlowTraversalOfTrees) {
  for (const char* form : {kStatic, kDySpec}) {
    const auto drafter = Make(std::string(form) + "sampled_without_replacement\"}");
    EXPECT_GT(PValue(*drafter, Rule("traversal"), kPlain), kAlarm) << form;
    EXPECT_GT(PValue(*drafter, Rule("traversal"), kWarped), kAlarm) << form << " warped";
  }
}

TEST_F(TreeLaw, SlowRecursiveRuleOfFormsThatFollowTheDraws) {
  for (const char* sample : {"greedy", "sampled_without_replacement"}) {
    const auto drafter = Make(std::string(kDySpec) + sample + "\"}");
    EXPECT_GT(PValue(*drafter, Rule("tree_recursive"), kPlain), kAlarm) << sample;
    EXPECT_GT(PValue(*drafter, Rule("tree_recursive"), kWarped), kAlarm) << sample << " warped";
  }
}

TEST_F(TreeLaw, SlowCatchesARuleThatForgetsWhatWasDrawn) {
  for (const char* form : {kStatic, kDySpec}) {
    const auto drafter = Make(std::string(form) + "sampled_without_replacement\"}");
    EXPECT_LT(PValue(*drafter, Forgetful(), kPlain), kAlarm) << form;
  }
}

TEST_F(TreeLaw, SlowCatchesAFormThatLooksAtTheTokenItDecidesAbout) {
  const auto inner = Make(std::string(kStatic) + "sampled_without_replacement\"}");
  Peeking peeking(*inner);
  EXPECT_LT(PValue(peeking, Rule("tree_recursive"), kPlain), kAlarm);
}

// Ordered pairs against q(a) q(b) / (1 - q(a)).
TEST(RaceOrder, IsTheLawOfSuccessiveDrawsWithoutReplacement) {
  const Distribution q = Distribution::FromWeights(std::vector<double>{0.4, 0.25, 0, 0.2, 0.1, 0.05});
  std::vector<int64_t> counts(36, 0);
  for (uint64_t i = 0; i < 50000; ++i) {
    const RandomKey key{.seed = 1, .request = i};
    const std::vector<TokenId> order = RaceOrder(q, key, 2);
    ASSERT_EQ(order[0], q.DrawRace(key));
    ++counts[order[0] * 6 + order[1]];
  }
  std::vector<double> law(36, 0);
  for (const TokenId a : q.tokens()) {
    for (const TokenId b : q.tokens()) {
      if (a != b) law[a * 6 + b] = q[a] * q[b] / (1 - q[a]);
    }
  }
  EXPECT_GT(ChiSquarePValue(counts, law), kAlarm);
  EXPECT_EQ(RaceOrder(q, {.seed = 3}, 99).size(), 5u);
  const std::vector<TokenId> all = RaceOrder(q, {.seed = 3}, 99), some = RaceOrder(q, {.seed = 3}, 3);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
}

}  // namespace
}  // namespace forerun
