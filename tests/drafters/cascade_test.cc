// The cascade's chain is the draft model's own; lookup only saves forwards, and long matches skip the model.
#include <algorithm>
#include <vector>

#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

constexpr int kVocab = 6;
using Tokens = std::vector<TokenId>;

class Cascade : public testing::Test {
 protected:
  std::unique_ptr<Drafter> Make(const std::string& json) {
    return MakeDrafterOrDie(json, {.target = &target_, .draft = &draft_, .pool = pool_.get()});
  }
  // A text with repetitions, some of which the draft model would not continue that way.
  static Tokens Text(int length) {
    Tokens text;
    for (int i = 0; i < length; ++i) text.push_back(static_cast<TokenId>(i % 11 * 5 % kVocab));
    return text;
  }
  int64_t Forwards() const { return draft_.counters().forwards; }
  int64_t Rows() const { return draft_.counters().rows; }

  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  TableModel target_{*pool_, ContextTable::Random(kVocab, 2, 1)};
  TableModel draft_{*pool_, ContextTable::Random(kVocab, 2, 2), 256};
};

TEST_F(Cascade, WritesTheChainOfTheDraftModelWhateverWasLookedUp) {
  for (const char* confidence : {"0", "0.3"}) {
    const std::string common = std::string(R"(, "min_confidence": )") + confidence;
    const auto chain = Make(R"({"type": "draft_model")" + common + "}");
    for (const char* lookup : {"0", "1", "4", "9"}) {
      const auto cascade =
          Make(R"({"type": "cascade", "cascade": {"min": 1, "direct_min": 0, "lookup_tokens": )" +
               std::string(lookup) + "}" + common + "}");
      Proposing chain_text(*chain), cascade_text(*cascade);
      for (const float penalty : {1.0f, 1.4f}) {
        for (int length = 1; length < 40; ++length) {
          for (const int budget : {1, 2, 3, 8}) {
            Sampling sampling{.repetition_penalty = penalty};
            EXPECT_EQ(cascade_text.Draft(Text(length), budget, sampling),
                      chain_text.Draft(Text(length), budget, sampling))
                << "length " << length << ", budget " << budget << ", lookup " << lookup;
          }
        }
      }
    }
  }
}

// A draft model that goes round 0 1 2 3 4 5: the text repeats, and each guess is right.
void TeachCircle(ContextTable& table) {
  for (TokenId token = 0; token < kVocab; ++token) {
    const Tokens context = {token};
    const std::span<double> row = table.Row(context);
    std::fill(row.begin(), row.end(), 0.0);
    row[(token + 1) % kVocab] = 1;
  }
}

TEST_F(Cascade, RightGuessesSaveForwards) {
  ContextTable circle(kVocab, 1);
  TeachCircle(circle);
  TableModel draft(*pool_, circle);
  const auto drafter =
      MakeDrafterOrDie(R"({"type": "cascade", "cascade": {"direct_min": 0, "lookup_tokens": 3}})",
                       {.target = &target_, .draft = &draft, .pool = pool_.get()});
  Proposing text(*drafter);
  EXPECT_EQ(text.Draft({0, 1, 2, 3, 4, 5, 0, 1, 2, 3}, 7), (Tokens{4, 5, 0, 1, 2, 3, 4}));
  // 10 tokens and 3 guesses give 4 tokens; the last of them and 2 guesses give the other 3.
  EXPECT_EQ(draft.counters().forwards, 2);
  EXPECT_EQ(draft.counters().rows, 13 + 3);
}

TEST_F(Cascade, AWrongGuessCostsItsRowsOnly) {
  ContextTable circle(kVocab, 1);
  TeachCircle(circle);
  TableModel draft(*pool_, circle);
  const auto drafter =
      MakeDrafterOrDie(R"({"type": "cascade", "cascade": {"min": 1, "direct_min": 0, "lookup_tokens": 3}})",
                       {.target = &target_, .draft = &draft, .pool = pool_.get()});
  Proposing text(*drafter);
  EXPECT_EQ(text.Draft({3, 5, 5, 3}, 2), (Tokens{4, 5}));  // the guess 5 fell
  EXPECT_EQ(draft.counters().rows, 5 + 1);
}

TEST_F(Cascade, ALongMatchGoesStraightToTheTargetAndIsReadLaterInOneForward) {
  const auto cascade = Make(R"({"type": "cascade", "cascade": {"min": 2, "max": 4, "direct_min": 4}})");
  Proposing text(*cascade);
  const Tokens seen = {0, 1, 2, 3, 5, 4, 0, 1, 2, 3};
  EXPECT_EQ(text.Draft(seen, 3), (Tokens{5, 4, 0}));
  EXPECT_EQ(Forwards(), 0);
  // Where the text breaks off, the continuation is itself looked up.
  EXPECT_EQ(text.Draft(seen, 9), (Tokens{5, 4, 0, 1, 2, 3, 5, 4, 0}));
  EXPECT_EQ(Forwards(), 0);
  Tokens later = seen;
  later.insert(later.end(), {5, 4, 4});  // no match of two words: the model is asked
  const Tokens asked = text.Draft(later, 1);
  EXPECT_EQ(Forwards(), 1);
  EXPECT_EQ(Rows(), 13);
  const auto chain = Make(R"({"type": "draft_model"})");
  EXPECT_EQ(asked, Proposing(*chain).Draft(later, 1));
}

TEST_F(Cascade, PastTheDraftModelsContextOnlyLookupSpeaks) {
  const auto cascade = Make(R"({"type": "cascade", "cascade": {"min": 2, "max": 6, "direct_min": 6}})");
  Proposing text(*cascade);
  EXPECT_EQ(text.Draft(Text(300), 4).size(), 4u);  // a period of 11
  Tokens fresh = Text(300);
  std::reverse(fresh.begin() + 290, fresh.end());
  fresh.insert(fresh.end(), {5, 5, 5});
  EXPECT_EQ(text.Draft(fresh, 4), Tokens{});
  EXPECT_EQ(Forwards(), 0);
}

TEST_F(Cascade, RefusesWhatItCouldNotUse) {
  const auto message = [&](const char* json) {
    const auto made =
        MakeDrafter(*ParseJson(json, "test"), {.target = &target_, .draft = &draft_, .pool = pool_.get()});
    return made.ok() ? "" : std::string(made.status().message());
  };
  EXPECT_NE(message(R"({"type": "cascade", "cascade": {"max": 4, "direct_min": 5}})")
                .find("direct_min 5 and max 4"),
            std::string::npos);
  EXPECT_NE(message(R"({"type": "cascade", "cascade": {"min": 4, "max": 3}})").find("min 4 and max 3"),
            std::string::npos);
  EXPECT_NE(message(R"({"type": "cascade", "cascade": {"lookup": 3}})").find("lookup_tokens"),
            std::string::npos);
}

}  // namespace
}  // namespace forerun
