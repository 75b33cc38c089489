// Negative controls of verifier_enumeration_test.cc: mistakes that public code has made must be seen.
#include "experiments/lossless/controls.h"
#include "experiments/lossless/drafts.h"
#include "experiments/lossless/exact.h"
#include "experiments/lossless/faulty_rules.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

TEST(Controls, EveryMistakeIsSeenAndNothingElse) {
  int mistakes = 0, right = 0;
  for (const Control& control : RunControls()) {
    if (control.expected) {
      ++mistakes;
      EXPECT_GT(control.bias, kVisibleBias) << control.name << ": " << control.mistake;
    } else {
      ++right;
      EXPECT_LE(control.bias, kExactBias) << control.name;
    }
  }
  EXPECT_GE(mistakes, 14);
  EXPECT_GE(right, 4);
}

// Two children a, b below one root: a stands if the first row's own draw is a, else b if the second's is b;
// the rest is drawn anew. So a is emitted with p(a) + (1 - p(a)) (1 - p(b)) p(a).
TEST(Controls, RedrawnTargetHasItsKnownLaw) {
  const auto emitted = [](double p_a) {
    ContextTable p(2, 0);
    p.RowAt(0)[0] = p_a;
    p.RowAt(0)[1] = 1 - p_a;
    const DraftFunction both = [](std::span<const TokenId>, int, DraftDraws&, TokenTree& tree) {
      tree.Add(0, 0);
      tree.Add(0, 1);
    };
    const RedrawnTarget rule;
    return EmittedLaw({.target = &p, .draft = both, .rule = &rule}, 1)[{0}];
  };
  EXPECT_NEAR(emitted(0.5), 5.0 / 8, kExactBias);
  EXPECT_NEAR(emitted(0.1), 0.109, kExactBias);
  EXPECT_NEAR(emitted(1.0 / 3), 11.0 / 27, kExactBias);
}

}  // namespace
}  // namespace forerun
