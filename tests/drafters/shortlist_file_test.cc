#include "drafters/reading/shortlist_file.h"

#include <fstream>

#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/program.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;

std::string MessageOf(const char* json) {
  const auto ids = ReadShortlist(*ParseJson(json, "test"), "words.json", 100);
  return ids.ok() ? "" : std::string(ids.status().message());
}

TEST(ShortlistFile, ListsTheIdsOfItsRanges) {
  const auto ids = ReadShortlist(
      *ParseJson(R"({"ranges": [[2, 4], [7, 7], [99, 99]], "vocab_size": 100})", "t"), "f", 100);
  ASSERT_TRUE(ids.ok()) << ids.status();
  EXPECT_EQ(*ids, (Tokens{2, 3, 4, 7, 99}));
}

TEST(ShortlistFile, SaysInOneLineWhatIsWrong) {
  const struct {
    const char* json;
    const char* message;
  } cases[] = {
      {R"({"ranges": [[0, 5]], "vocab_size": 99})", "words.json.vocab_size: expected 100"},
      {R"({"ranges": [[0, 5]]})", "words.json.vocab_size: expected 100"},
      {R"({"ranges": [], "vocab_size": 100})", "words.json.ranges: expected"},
      {R"({"vocab_size": 100})", "words.json.ranges: expected"},
      {R"({"ranges": [[0, 100]], "vocab_size": 100})", "words.json.ranges.0: expected"},
      {R"({"ranges": [[-1, 5]], "vocab_size": 100})", "words.json.ranges.0: expected"},
      {R"({"ranges": [[5, 4]], "vocab_size": 100})", "found [5,4]"},
      {R"({"ranges": [[0, 4], [4, 6]], "vocab_size": 100})", "words.json.ranges.1: expected"},
      {R"({"ranges": [[9, 9], [4, 6]], "vocab_size": 100})", "found [4,6]"},
      {R"({"ranges": [[1, 2, 3]], "vocab_size": 100})", "found [1,2,3]"},
      {R"({"ranges": [[0.5, 2]], "vocab_size": 100})", "found [0.5,2]"},
      {R"({"ranges": [7], "vocab_size": 100})", "found 7"},
      {R"({"ranges": [[1, 2]], "vocab_size": 100, "words": 3})", "words"},
  };
  for (const auto& [json, message] : cases) {
    EXPECT_NE(MessageOf(json).find(message), std::string::npos) << json << ": " << MessageOf(json);
    EXPECT_EQ(MessageOf(json).find('\n'), std::string::npos);
  }
}

class ShortlistedDrafter : public testing::TestWithParam<const char*> {
 protected:
  absl::StatusOr<std::unique_ptr<Drafter>> Make(const char* list) {
    const std::string path = std::string(folder_.path()) + "/words.json";
    std::ofstream(path) << list;
    Json options = {{"type", GetParam()}, {"shortlist", path}};
    return MakeDrafter(options, {.target = &target_, .draft = &draft_, .pool = pool_.get()});
  }

  TemporaryFolder folder_{"shortlist"};
  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  TableModel target_{*pool_, ContextTable::Random(6, 2, 1)};
  TableModel draft_{*pool_, ContextTable::Random(6, 2, 2)};
};

TEST_P(ShortlistedDrafter, SaysNoOtherWordAndSaysSo) {
  const auto drafter = Make(R"({"ranges": [[1, 1], [4, 5]], "vocab_size": 6})");
  ASSERT_TRUE(drafter.ok()) << drafter.status();
  EXPECT_EQ((*drafter)->note(), "shortlist 3 of 6");
  Proposing text(**drafter);
  const Tokens context = {0, 1, 2, 3, 5, 2};
  const Tokens drafted = text.Draft(context, 12);
  EXPECT_EQ(drafted.size(), 12u);
  for (const TokenId token : drafted) EXPECT_TRUE(token == 1 || token == 4 || token == 5) << token;
}

TEST_P(ShortlistedDrafter, RefusesABadFileInOneLine) {
  const auto other = Make(R"({"ranges": [[0, 3]], "vocab_size": 7})");
  EXPECT_NE(std::string(other.status().message()).find("words.json.vocab_size: expected 6"),
            std::string::npos)
      << other.status();
  Json options = {{"type", GetParam()}, {"shortlist", "/nowhere/words.json"}};
  const auto missing = MakeDrafter(options, {.target = &target_, .draft = &draft_, .pool = pool_.get()});
  EXPECT_TRUE(absl::IsNotFound(missing.status()));
  EXPECT_NE(std::string(missing.status().message()).find("/nowhere/words.json"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Types, ShortlistedDrafter, testing::Values("draft_model", "cascade"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace forerun
