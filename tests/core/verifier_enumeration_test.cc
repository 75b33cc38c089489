// Every rule, run through every outcome of several rounds: the law of what is emitted must be the target's
// own to rounding. What a mistake looks like is in verifier_mistakes_test.cc.
#include <algorithm>
#include <string>
#include <vector>

#include "experiments/lossless/drafts.h"
#include "experiments/lossless/exact.h"
#include "gtest/gtest.h"
#include "tests/support/rules.h"

namespace forerun {
namespace {

std::vector<std::string> RuleNames() {
  std::vector<std::string> names;
  for (const RuleInfo& info : ListRules()) names.emplace_back(info.name);
  return names;
}

class ExactLaw : public testing::TestWithParam<std::string> {};

// And a lossy rule whose law were the target's would have been given too weak a name.
TEST_P(ExactLaw, SlowIsKeptWhereItIsPromisedAndOnlyThere) {
  const bool promises = Rule(GetParam()).aim() == Law::kExact;
  const std::vector<ExactRow> rows = RunExactLaws(GetParam(), promises ? 2 : 1);
  ASSERT_FALSE(rows.empty());
  for (const ExactRow& row : rows) {
    EXPECT_GE(row.cases, 10);
    EXPECT_EQ(row.promises(), promises);
    EXPECT_FALSE(row.failed()) << row.draft << (row.greedy ? " at temperature 0" : "") << ": "
                               << row.worst_bias << " in " << row.worst_case;
    if (!promises && !row.greedy) {
      EXPECT_GT(row.worst_bias, 1e-3) << row.draft;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, ExactLaw, testing::ValuesIn(RuleNames()),
                         [](const auto& info) { return info.param; });

// Texts end where an end token is emitted, also in the middle of an accepted path.
TEST(EndToken, InsideAPathKeepsTheLaw) {
  const ContextTable p = ContextTable::Random(3, 5, 61), q = ContextTable::Random(3, 5, 62);
  for (const RuleInfo& info : ListRules()) {
    const Verifier& rule = Rule(info.name);
    if (!rule.KeepsLaw({.proposal = Proposal::kSampled}, {.temperature = 1})) continue;
    Speculation speculation = {
        .target = &p, .draft = SampledChain(q), .rule = &rule, .num_speculative_tokens = 3, .end_token = 2};
    EXPECT_LE(Bias(speculation, 5), kExactBias) << info.name;
    if (!rule.KeepsLaw({.proposal = Proposal::kSampled, .chain = false}, {.temperature = 1})) continue;
    speculation.draft = SampledTree(q, 2);
    speculation.num_speculative_tokens = 2;
    EXPECT_LE(Bias(speculation, 4), kExactBias) << info.name;
  }
}

// Words that change their ids change nothing else: neither the law nor how much stands.
TEST(PermutedVocabulary, PermutesTheOutput) {
  constexpr TokenId kNew[] = {2, 0, 1};
  const ContextTable p = ContextTable::Random(3, 4, 71, true), q = ContextTable::Random(3, 4, 72);
  const auto permuted = [&](const ContextTable& table) {
    ContextTable other(3, 4);
    std::vector<std::vector<TokenId>> contexts = {{}};
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      const std::vector<TokenId> context = contexts[i];
      std::vector<TokenId> renamed;
      for (const TokenId token : context) renamed.push_back(kNew[token]);
      for (TokenId token = 0; token < 3; ++token) other.Row(renamed)[kNew[token]] = table.Row(context)[token];
      for (TokenId token = 0; token < 3 && context.size() < 4; ++token) {
        contexts.push_back(context);
        contexts.back().push_back(token);
      }
    }
    return other;
  };
  const ContextTable p_new = permuted(p), q_new = permuted(q);
  for (const RuleInfo& info : ListRules()) {
    const bool chain = !Rule(info.name).KeepsLaw({Proposal::kSampled, false}, {.temperature = 1});
    const Speculation old = {.target = &p,
                             .draft = chain ? SampledChain(q) : SampledTree(q, 2),
                             .rule = &Rule(info.name),
                             .num_speculative_tokens = 2,
                             .prompt = {0}};
    Speculation renamed = old;
    renamed.target = &p_new;
    renamed.draft = chain ? SampledChain(q_new) : SampledTree(q_new, 2);
    renamed.prompt = {kNew[0]};
    TokenLaw expected;
    for (const auto& [tokens, mass] : EmittedLaw(old, 3)) {
      std::vector<TokenId> key;
      for (const TokenId token : tokens) key.push_back(kNew[token]);
      expected[key] = mass;
    }
    EXPECT_LE(TotalVariation(EmittedLaw(renamed, 3), expected), kExactBias) << info.name;
    EXPECT_NEAR(MeanAccepted(renamed), MeanAccepted(old), kExactBias) << info.name;
  }
}

// Greedy emits one text: the target's best tokens, whatever is drafted and however likely they are.
TEST(GreedyEnumeration, EmitsTheBestTokens) {
  const ContextTable p = ContextTable::Random(3, 5, 11), q = ContextTable::Random(3, 5, 22);
  std::vector<TokenId> text = {0};
  for (int i = 0; i < 4; ++i) text.push_back(DistributionAt(p, text).Argmax());
  const TokenLaw best = {{{text.begin() + 1, text.end()}, 1.0}};
  for (const DraftFunction& draft :
       {SampledChain(q), BestChain(q), BestChain(p), BestTree(q, 2), SampledTree(q, 2), BestTree(p, 3)}) {
    const Speculation speculation = {
        .target = &p, .draft = draft, .rule = &Rule("greedy"), .num_speculative_tokens = 2};
    EXPECT_LE(TotalVariation(EmittedLaw(speculation, 4), best), kExactBias);
  }
}

}  // namespace
}  // namespace forerun
