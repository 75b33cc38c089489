// A log is followed as far as the text goes with it, request by request; bad logs are one line.
#include <fstream>

#include "absl/strings/str_join.h"
#include "core/model/table_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/program.h"

namespace forerun {
namespace {

using testing::HasSubstr;

class Replay : public testing::Test {
 protected:
  void Log(const std::string& text) {
    std::ofstream(folder_.path() + "/rounds.jsonl", std::ios::binary) << text;
  }
  std::string Options(const char* arm = "") const {
    return absl::StrCat(R"({"type": "replay", "replay": {"log": ")", folder_.path(), R"(", "arm": ")", arm,
                        "\"}}");
  }
  std::string Message(const std::string& options) {
    return std::string(MakeDrafter(*ParseJson(options, "test"), {.target = &target_, .pool = pool_.get()})
                           .status()
                           .message());
  }
  Completion Write(Drafter* drafter, uint64_t id) {
    Request request;
    request.id = id;
    request.prompt = {1, 3};
    request.drafter = drafter;
    request.verifier = &Rule("greedy");
    request.num_speculative_tokens = drafter == nullptr ? 0 : 4;
    request.max_new_tokens = 20;
    return Complete(target_, *pool_, request);
  }
  static std::string Line(const char* unit, uint64_t request, const std::vector<TokenId>& ids) {
    return absl::StrCat(R"({"unit":")", unit, R"(","request":)", request, R"(,"emitted":[)",
                        absl::StrJoin(ids, ","), "]}\n");
  }

  TemporaryFolder folder_{"replay"};
  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  TableModel target_{*pool_, ContextTable::Random(8, 2, 5)};
};

TEST_F(Replay, DraftsWhatTheLogSaysWhileTheTextIsThatOfTheLog) {
  const std::vector<TokenId> text = Write(nullptr, 7).result.output;
  std::vector<TokenId> departs = text;
  departs[5] = (departs[5] + 1) % 8;
  Log(Line("a/b/plain/0", 7, {text.begin(), text.begin() + 3}) + Line("a/b/plain/1", 7, {0, 0}) +
      Line("a/b/plain/0", 7, {text.begin() + 3, text.end()}) + Line("a/b/other/0", 7, departs) +
      Line("c/plain/0", 9, departs) + "{\"unit\": \"torn");
  const auto drafter = MakeDrafterOrDie(Options(), {.target = &target_, .pool = pool_.get()});
  EXPECT_EQ(drafter->note(), "arm plain, 2 requests");

  const Completion whole = Write(drafter.get(), 7), part = Write(drafter.get(), 9),
                   none = Write(drafter.get(), 8);
  for (const Completion* completion : {&whole, &part, &none}) EXPECT_EQ(completion->result.output, text);
  EXPECT_EQ(whole.result.rounds, 4) << "twenty words, five a round";
  EXPECT_EQ(whole.result.accepted, 16);
  EXPECT_EQ(part.result.accepted, 4) << "then the target's own word, and the sixth one of the log is wrong";
  EXPECT_EQ(part.result.drafted, 8) << "and from there on nothing is known";
  EXPECT_EQ(none.result.drafted, 0) << "the log has no such request";

  const auto other = MakeDrafterOrDie(Options("other"), {.target = &target_, .pool = pool_.get()});
  EXPECT_EQ(Write(other.get(), 7).result.accepted, 4);
}

TEST_F(Replay, RefusesWhatIsNoLogOfThisModelInOneLine) {
  EXPECT_EQ(Message(R"({"type": "replay"})"),
            "drafter.replay.log: expected the directory of a run, found none");
  EXPECT_THAT(Message(R"({"type": "replay", "replay": {"log": "/nowhere"}})"),
              HasSubstr("drafter.replay.log: /nowhere/rounds.jsonl: cannot be read"));
  Log(Line("p/plain/0", 1, {1, 8}));
  EXPECT_THAT(Message(Options()), HasSubstr("rounds.jsonl:1: emitted: expected ids below 8, found 8"));
  Log(Line("plain", 1, {1}));
  EXPECT_THAT(Message(Options()), HasSubstr("unit: expected prompt/arm/repetition, found plain"));
  Log("[1]\n");
  EXPECT_THAT(Message(Options()), HasSubstr("rounds.jsonl:1: expected a round"));
  Log("{\n");
  EXPECT_THAT(Message(Options()), HasSubstr("rounds.jsonl:1"));
  Log("");
  EXPECT_THAT(Message(Options()), HasSubstr("expected rounds of any arm"));
  Log(Line("p/plain/0", 1, {1}));
  EXPECT_THAT(Message(Options("draft")), HasSubstr("expected rounds of arm \"draft\""));
}

}  // namespace
}  // namespace forerun
