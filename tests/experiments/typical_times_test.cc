#include "experiments/report/typical_times.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using ::testing::DoubleEq;
using ::testing::HasSubstr;

struct RoundSpec {
  int rows = 1;
  int committed = 10;
  double verify = 0.010;
  double draft = 0;
};

LoggedRequest MakeRequest(const std::string& arm, const std::vector<RoundSpec>& specs) {
  LoggedRequest request;
  request.row.unit = "a/" + arm + "/0";
  request.row.arm = arm;
  for (const RoundSpec& spec : specs) {
    RoundRecord& round = request.rounds.emplace_back();
    round.round = static_cast<int>(request.rounds.size()) - 1;
    round.batch_rows = spec.rows;
    round.drafted = spec.rows - 1;
    round.committed = spec.committed;
    round.verify_seconds = spec.verify;
    round.draft_seconds = spec.draft;
    request.row.decode_seconds += round.seconds();
  }
  return request;
}

TEST(TypicalTimes, ABurstIsForgotten) {
  RunRecords records;
  records.requests = {MakeRequest("plain", {{.verify = 0.010}, {.verify = 0.011}, {.verify = 0.900}}),
                      MakeRequest("other", {{.verify = 0.012}, {.verify = 0.009}})};
  ASSERT_TRUE(UseTypicalTimes(records).ok());
  for (const LoggedRequest& request : records.requests) {
    for (const RoundRecord& round : request.rounds) EXPECT_EQ(round.verify_seconds, 0.011);
  }
  EXPECT_THAT(records.requests[0].row.decode_seconds, DoubleEq(0.033));
  EXPECT_THAT(records.requests[1].row.decode_seconds, DoubleEq(0.022));
}

TEST(TypicalTimes, OnlyRoundsAlikeAreTakenTogether) {
  RunRecords records;
  records.requests = {MakeRequest("plain", {{.verify = 0.010}, {.committed = 63, .verify = 0.010}}),
                      MakeRequest("plain", {{.committed = 64, .verify = 0.013}}),
                      MakeRequest("wide", {{.rows = 4, .verify = 0.020}})};
  ASSERT_TRUE(UseTypicalTimes(records).ok());
  EXPECT_EQ(records.requests[0].rounds[1].verify_seconds, 0.010);
  EXPECT_EQ(records.requests[1].rounds[0].verify_seconds, 0.013);
  EXPECT_EQ(records.requests[2].rounds[0].verify_seconds, 0.020);
}

// A draft from a lookup does not make one from a model cheaper, in the same arm.
TEST(TypicalTimes, DraftsThatCostNothingStandApart) {
  RunRecords records;
  records.requests = {MakeRequest("adaptive", {{.rows = 4, .draft = 1e-6},
                                               {.rows = 4, .draft = 1.2e-6},
                                               {.rows = 4, .draft = 1.1e-6},
                                               {.rows = 4, .draft = 0.007}}),
                      MakeRequest("draft", {{.rows = 4, .draft = 0.009}})};
  ASSERT_TRUE(UseTypicalTimes(records).ok());
  EXPECT_EQ(records.requests[0].rounds[0].draft_seconds, 1.1e-6);
  EXPECT_EQ(records.requests[0].rounds[3].draft_seconds, 0.007);
  EXPECT_EQ(records.requests[1].rounds[0].draft_seconds, 0.009);
}

TEST(TypicalTimes, SharedForwardsAreRefused) {
  RunRecords records;
  records.requests = {MakeRequest("plain", {{}, {}})};
  records.requests[0].rounds[1].batch_sequences = 3;
  EXPECT_THAT(UseTypicalTimes(records).message(),
              HasSubstr("a/plain/0, round 1: typical times expect one sequence in a forward, found 3"));
}

}  // namespace
}  // namespace forerun
