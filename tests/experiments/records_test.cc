#include "experiments/run/records.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using ::testing::HasSubstr;

RequestRow Row() {
  RequestRow row;
  row.prompt = "q/1";
  row.arm = "ngram";
  row.unit = UnitKey(row.prompt, row.arm, 2);
  row.category = "code";
  row.repetition = 2;
  row.baseline_before = 0;
  row.baseline_after = 1;
  row.prompt_tokens = 12;
  row.output = {5, 6, 7};
  row.text = "a\"b\n\xff";
  row.finish_reason = "max_tokens";
  row.rounds = 2;
  row.drafted = 4;
  row.accepted = 1;
  row.prefill_seconds = 0.125;
  row.decode_seconds = 1.0 / 3;
  row.drafter_state = "cold";
  return row;
}

RoundRecord Round() {
  RoundRecord round;
  round.request = 9;
  round.round = 1;
  round.committed = 14;
  round.budget = 4;
  round.drafted = 3;
  round.max_depth = 3;
  round.accepted = 1;
  round.truncated = 1;
  round.length_limited = true;
  round.bonus = true;
  round.emitted = {6, 7};
  round.examined = {{1, 0.25, 1, true}, {2, 1.0 / 3, 0.5, false}};
  round.draft_seconds = 0.001;
  round.verify_seconds = 0.02;
  round.sample_seconds = 0.003;
  round.other_seconds = 0.0004;
  round.batch_sequences = 2;
  round.batch_rows = 9;
  return round;
}

TEST(Records, RequestRowsComeBack) {
  const Json json = RequestRowJson(Row());
  const auto text = ParseJson(DumpJson(json), "row");
  ASSERT_TRUE(text.ok()) << text.status();  // broken UTF-8 in the text does not break the line
  const auto row = ReadRequestRow(*text, "requests.jsonl:1");
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(RequestRowJson(*row)["output"], json["output"]);
  EXPECT_EQ(row->unit, "q/1/ngram/2");
  EXPECT_EQ(row->decode_seconds, 1.0 / 3);  // to the bit
  EXPECT_EQ(row->baseline_after, 1);
  EXPECT_EQ(json["output_sha256"].get<std::string>().size(), 64u);
}

TEST(Records, RoundsComeBack) {
  const Json json = RoundJson("q/1/ngram/2", Round());
  std::string unit;
  const auto round = ReadRound(*ParseJson(DumpJson(json), ""), "rounds.jsonl:1", &unit);
  ASSERT_TRUE(round.ok()) << round.status();
  EXPECT_EQ(unit, "q/1/ngram/2");
  EXPECT_EQ(DumpJson(RoundJson(unit, *round)), DumpJson(json));
  EXPECT_EQ(round->examined[1].p, 1.0 / 3);
}

TEST(Records, DamageIsNamed) {
  Json json = RequestRowJson(Row());
  json["emitted"] = 4;
  EXPECT_THAT(std::string(ReadRequestRow(json, "requests.jsonl:3").status().message()),
              HasSubstr("requests.jsonl:3.emitted: expected the length of \"output\", found 4"));
  json = RequestRowJson(Row());
  json["output"][0] = int64_t{4294967297};
  EXPECT_THAT(std::string(ReadRequestRow(json, "requests.jsonl:3").status().message()),
              HasSubstr("expected token ids from 0 to 2147483647, found 4294967297"));
  json = RoundJson("u", Round());
  json["examined"][0] = 5;
  std::string unit;
  EXPECT_THAT(std::string(ReadRound(json, "rounds.jsonl:8", &unit).status().message()),
              HasSubstr("rounds.jsonl:8.examined: expected an array of [node, p, q, accepted]"));
}

}  // namespace
}  // namespace forerun
