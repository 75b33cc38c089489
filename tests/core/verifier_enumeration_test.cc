// Every rule, run through every outcome of several rounds: the law of what is emitted must be the target's
// own to rounding. What a mistake looks like is in verifier_mistakes_test.cc.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/speculation.h"

namespace forerun {
namespace {

constexpr double kExact = 1e-12;

const Verifier* Rule(absl::string_view name) { return *FindVerifier(name); }

double Bias(const Speculation& speculation, int length) {
  return TotalVariation(EmittedLaw(speculation, length),
                        PlainLaw(*speculation.target, speculation.prompt, length));
}

struct Case {
  std::string name;
  int vocab = 2;
  int depth = 1;   // K
  int length = 4;  // emitted tokens looked at: more than one round unless all are accepted
  bool zeros = false;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class RuleEnumeration : public testing::TestWithParam<Case> {
 protected:
  void ExpectExact(absl::string_view rule, const DraftFunction& draft) {
    const Speculation speculation = {
        .target = &p_, .draft = draft, .rule = Rule(rule), .num_speculative_tokens = GetParam().depth};
    EXPECT_LE(Bias(speculation, GetParam().length), kExact);
  }

  const ContextTable p_ = ContextTable::Random(GetParam().vocab, 5, 11, GetParam().zeros);
  const ContextTable q_ = ContextTable::Random(GetParam().vocab, 5, 22, GetParam().zeros);
};

TEST_P(RuleEnumeration, RejectionOfSampledChain) { ExpectExact("rejection", SampledChain(q_)); }
TEST_P(RuleEnumeration, RejectionOfDeterministicChain) { ExpectExact("rejection", BestChain(q_)); }
TEST_P(RuleEnumeration, RejectionOfTheTargetItself) { ExpectExact("rejection", SampledChain(p_)); }
TEST_P(RuleEnumeration, ExactMatchOfSampledChain) { ExpectExact("exact_match", SampledChain(q_)); }
TEST_P(RuleEnumeration, ExactMatchOfDeterministicChain) { ExpectExact("exact_match", BestChain(q_)); }
INSTANTIATE_TEST_SUITE_P(Tables, RuleEnumeration,
                         testing::Values(Case{"V2_K1", 2, 1, 5}, Case{"V2_K2", 2, 2, 5},
                                         Case{"V2_K3", 2, 3, 5}, Case{"V3_K1", 3, 1, 4},
                                         Case{"V3_K2", 3, 2, 4}, Case{"V3_K3", 3, 3, 4},
                                         Case{"V4_K2", 4, 2, 3}, Case{"V3_K2_zeros", 3, 2, 4, true},
                                         Case{"V4_K1_zeros", 4, 1, 4, true}),
                         [](const auto& info) { return info.param.name; });

// Trees have more outcomes than chains: smaller tables.
class TreeRuleEnumeration : public RuleEnumeration {};

TEST_P(TreeRuleEnumeration, ExactMatchOfDeterministicTree) { ExpectExact("exact_match", BestTree(q_, 2)); }
TEST_P(TreeRuleEnumeration, ExactMatchOfTreeWithoutReplacement) {
  ExpectExact("exact_match", SampledTreeWithoutReplacement(q_, 2));
}
// Equal siblings occur here.
TEST_P(TreeRuleEnumeration, ExactMatchOfSampledTree) { ExpectExact("exact_match", SampledTree(q_, 2)); }

INSTANTIATE_TEST_SUITE_P(Tables, TreeRuleEnumeration,
                         testing::Values(Case{"V2_K1", 2, 1, 4}, Case{"V2_K2", 2, 2, 5},
                                         Case{"V3_K1", 3, 1, 4}, Case{"V3_K2", 3, 2, 3},
                                         Case{"V4_K2_zeros", 4, 2, 3, true}),
                         [](const auto& info) { return info.param.name; });

// Greedy emits one text: the target's best tokens, whatever is drafted.
TEST(GreedyEnumeration, EmitsTheBestTokens) {
  const ContextTable p = ContextTable::Random(3, 5, 11), q = ContextTable::Random(3, 5, 22);
  std::vector<TokenId> text = {0};
  for (int i = 0; i < 4; ++i) text.push_back(DistributionAt(p, text).Argmax());
  const TokenLaw best = {{{text.begin() + 1, text.end()}, 1.0}};
  for (const DraftFunction& draft :
       {SampledChain(q), BestChain(q), BestChain(p), BestTree(q, 2), SampledTree(q, 2), BestTree(p, 3)}) {
    const Speculation speculation = {
        .target = &p, .draft = draft, .rule = Rule("greedy"), .num_speculative_tokens = 2};
    EXPECT_LE(TotalVariation(EmittedLaw(speculation, 4), best), kExact);
  }
}

// The chance that the first drafted token stands, against its formula.
TEST(Acceptance, IsOverlapUnderRejectionAndInnerProductUnderExactMatch) {
  const ContextTable p = ContextTable::Random(4, 2, 5), q = ContextTable::Random(4, 2, 6);
  const std::vector<TokenId> prompt = {1, 3};
  const Distribution p_row = DistributionAt(p, prompt), q_row = DistributionAt(q, prompt);
  double inner_product = 0;
  for (const TokenId token : p_row.tokens()) inner_product += p_row[token] * q_row[token];
  const auto accepted = [&](absl::string_view rule, const DraftFunction& draft) {
    double mass = 0;
    const auto count = [&mass](const TokenTree&, const Verdict& verdict, double probability) {
      if (!verdict.accepted.empty()) mass += probability;
    };
    EmittedLaw({.target = &p, .draft = draft, .rule = Rule(rule), .prompt = prompt, .first_round = count}, 2);
    return mass;
  };
  EXPECT_NEAR(accepted("rejection", SampledChain(q)), Overlap(p_row, q_row), kExact);
  EXPECT_NEAR(accepted("exact_match", SampledChain(q)), inner_product, kExact);
  EXPECT_NEAR(accepted("rejection", BestChain(q)), p_row[q_row.Argmax()], kExact);
  EXPECT_NEAR(accepted("exact_match", BestChain(q)), p_row[q_row.Argmax()], kExact);
  EXPECT_NEAR(accepted("rejection", SampledChain(p)), 1, kExact);
}

// A point mass judged by `rejection` and by `exact_match` has one law, also of how much is accepted.
TEST(Acceptance, PointMassesAreAcceptedAlikeByBothRules) {
  const ContextTable p = ContextTable::Random(3, 3, 7, true), q = ContextTable::Random(3, 3, 8);
  const auto lengths = [&](absl::string_view rule) {
    std::map<std::pair<std::size_t, TokenId>, double> law;
    const auto count = [&law](const TokenTree&, const Verdict& verdict, double probability) {
      law[{verdict.accepted.size(), verdict.next}] += probability;
    };
    EmittedLaw({.target = &p,
                .draft = BestChain(q),
                .rule = Rule(rule),
                .num_speculative_tokens = 3,
                .first_round = count},
               3);
    return law;
  };
  const auto rejection = lengths("rejection"), exact_match = lengths("exact_match");
  ASSERT_EQ(rejection.size(), exact_match.size());
  for (const auto& [outcome, mass] : rejection) EXPECT_NEAR(exact_match.at(outcome), mass, kExact);
}

TEST(RejectionEnumeration, DisjointSupportsAlwaysReject) {
  ContextTable p(4, 1), q(4, 1);
  for (int row = 0; row < p.num_rows(); ++row) {
    const double p_row[] = {0.25, 0.75, 0, 0}, q_row[] = {0, 0, 0.5, 0.5};
    std::copy_n(p_row, 4, p.RowAt(row).begin());
    std::copy_n(q_row, 4, q.RowAt(row).begin());
  }
  const auto expect_none = [](const TokenTree&, const Verdict& verdict, double probability) {
    if (probability > 0) {
      EXPECT_TRUE(verdict.accepted.empty());
      EXPECT_FALSE(verdict.bonus);
    }
  };
  const Speculation speculation = {.target = &p,
                                   .draft = SampledChain(q),
                                   .rule = Rule("rejection"),
                                   .num_speculative_tokens = 2,
                                   .first_round = expect_none};
  EXPECT_LE(Bias(speculation, 3), kExact);
}

}  // namespace
}  // namespace forerun
