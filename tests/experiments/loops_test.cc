#include "experiments/report/loops.h"

#include <vector>

#include "gtest/gtest.h"

namespace forerun {
namespace {

// `lead`, then `turn` over and over until there are `tokens` of it.
std::vector<TokenId> Looping(std::vector<TokenId> lead, const std::vector<TokenId>& turn, int tokens) {
  for (int i = 0; i < tokens; ++i) lead.push_back(turn[i % turn.size()]);
  return lead;
}

TEST(Loops, CountsTheTurnsAtTheEnd) {
  EXPECT_EQ(LoopTokens(Looping({9, 8, 7}, {1, 2, 3}, 30)), 30);
  EXPECT_EQ(LoopTokens(Looping({9, 8, 7}, {1, 2, 3}, 31)), 31);  // the last turn need not be whole
  EXPECT_EQ(LoopTokens(Looping({9, 8, 1}, {1}, 40)), 41);        // a lead that fits belongs to the loop
}

TEST(Loops, NeedsThreeTurnsAndSomeLength) {
  std::vector<TokenId> turn;
  for (TokenId token = 0; token < 20; ++token) turn.push_back(token);
  EXPECT_EQ(LoopTokens(Looping({77}, turn, 59)), 0);
  EXPECT_EQ(LoopTokens(Looping({77}, turn, 60)), 60);
  EXPECT_EQ(LoopTokens(Looping({77}, {5, 6}, 23)), 0);
  EXPECT_EQ(LoopTokens(Looping({77}, {5, 6}, 24)), 24);
}

TEST(Loops, ALoopThatWasLeftIsNone) {
  std::vector<TokenId> text = Looping({}, {1, 2, 3}, 60);
  text.push_back(99);
  EXPECT_EQ(LoopTokens(text), 0);
  EXPECT_EQ(LoopTokens({}), 0);
}

TEST(Loops, TurnsLongerThanTheLimitAreNotSeen) {
  std::vector<TokenId> turn;
  for (TokenId token = 0; token < kLongestLoop + 1; ++token) turn.push_back(token);
  EXPECT_EQ(LoopTokens(Looping({}, turn, 4 * (kLongestLoop + 1))), 0);
  turn.pop_back();
  EXPECT_EQ(LoopTokens(Looping({}, turn, 4 * kLongestLoop)), 4 * kLongestLoop);
}

}  // namespace
}  // namespace forerun
