#include "experiments/texts/prompts.h"

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string WriteTemporary(const std::string& text) {
  const std::string path = ::testing::TempDir() + "/prompts_test.jsonl";
  std::ofstream(path) << text;
  return path;
}

absl::StatusOr<std::vector<Prompt>> Read(const std::string& text) {
  return ReadPromptFile(WriteTemporary(text));
}

std::string ErrorOf(const std::string& text) { return std::string(Read(text).status().message()); }

TEST(Prompts, ReadsBothSpellings) {
  const auto prompts = Read(
      "{\"id\": \"a\", \"category\": \"code\", \"prompt\": \"p1\"}\n\n"
      "{\"question_id\": 81, \"category\": \"chat\", \"turns\": [\"p2\", \"later\"], \"reference\": []}\n");
  ASSERT_TRUE(prompts.ok()) << prompts.status();
  ASSERT_EQ(prompts->size(), 2u);
  EXPECT_EQ((*prompts)[0].text, "p1");
  EXPECT_EQ((*prompts)[0].line, 1u);
  EXPECT_EQ((*prompts)[1].id, "81");
  EXPECT_EQ((*prompts)[1].text, "p2");
  EXPECT_EQ((*prompts)[1].line, 3u);  // blank lines count: the key of random numbers is the line
}

TEST(Prompts, APredictionIsRead) {
  const auto prompts = Read(
      "{\"id\": \"a\", \"category\": \"edit\", \"prompt\": \"p\", \"prediction\": \"the file\"}\n"
      "{\"id\": \"b\", \"category\": \"edit\", \"prompt\": \"p\"}\n");
  ASSERT_TRUE(prompts.ok()) << prompts.status();
  EXPECT_EQ((*prompts)[0].prediction, "the file");
  EXPECT_EQ((*prompts)[1].prediction, "");
  EXPECT_THAT(ErrorOf("{\"id\": 1, \"category\": \"x\", \"prompt\": \"p\", \"prediction\": 5}"),
              HasSubstr("expected \"prediction\": a string"));
}

TEST(Prompts, ErrorsNameFileAndLine) {
  const std::string good = "{\"id\": 1, \"category\": \"c\", \"prompt\": \"x\"}\n";
  EXPECT_THAT(ErrorOf(good + "{\"id\": 2, \"prompt\": \"x\"}"),
              HasSubstr("prompts_test.jsonl:2: expected \"category\""));
  EXPECT_THAT(ErrorOf(good + "{\"id\": 2, \"category\": \"c\"}"), HasSubstr(":2: expected \"prompt\""));
  EXPECT_THAT(ErrorOf(good + "{\"category\": \"c\", \"prompt\": \"x\"}"), HasSubstr(":2: expected \"id\""));
  EXPECT_THAT(ErrorOf(good + good), HasSubstr(":2: id \"1\" appears twice"));
  EXPECT_THAT(ErrorOf(good + "oops"), HasSubstr(":2: parse error"));
  EXPECT_THAT(ErrorOf(good + "[]"), HasSubstr(":2: expected an object"));
  EXPECT_THAT(ErrorOf("{\"id\": 1, \"category\": \"c\", \"prompt\": \"\"}"), HasSubstr("not empty"));
  EXPECT_THAT(ErrorOf("{\"id\": 1, \"category\": \"all\", \"prompt\": \"x\"}"),
              HasSubstr("other than \"all\""));
  EXPECT_THAT(ErrorOf("{\"id\": \"\", \"category\": \"c\", \"prompt\": \"x\"}"),
              HasSubstr("\"id\" that is not"));
  EXPECT_THAT(ErrorOf("{\"id\": 1, \"category\": \"c\\nd\", \"prompt\": \"x\"}"),
              HasSubstr("control characters"));
  EXPECT_THAT(ErrorOf("\n\n"), HasSubstr("no prompts"));
  EXPECT_EQ(ReadPromptFile("/nonexistent.jsonl").status().code(), absl::StatusCode::kNotFound);
}

std::vector<Prompt> Some() {
  std::vector<Prompt> prompts;
  for (const char* id : {"a1", "a2", "a3", "b1", "c1", "c2"}) {
    prompts.push_back({.id = id, .category = std::string(1, id[0]), .text = "x", .line = prompts.size() + 1});
  }
  return prompts;
}

std::vector<std::string> Ids(const PromptsConfig& config) {
  std::vector<std::string> ids;
  const auto selected = SelectPrompts(Some(), config);
  EXPECT_TRUE(selected.ok()) << selected.status();
  for (const Prompt& prompt : *selected) ids.push_back(prompt.id);
  return ids;
}

TEST(Prompts, SelectionGoesRoundTheCategories) {
  EXPECT_THAT(Ids({}), ElementsAre("a1", "b1", "c1", "a2", "c2", "a3"));
  EXPECT_THAT(Ids({.file = "", .categories = {}, .per_category = 1}), ElementsAre("a1", "b1", "c1"));
  EXPECT_THAT(Ids({.file = "", .categories = {"c", "a"}, .per_category = 2}),
              ElementsAre("c1", "a1", "c2", "a2"));
}

TEST(Prompts, UnknownCategoryNamesTheOthers) {
  const auto selected = SelectPrompts(Some(), {.file = "f.jsonl", .categories = {"poetry"}});
  EXPECT_THAT(std::string(selected.status().message()),
              HasSubstr("\"poetry\" is not in f.jsonl; there are a, b, c"));
}

TEST(Prompts, ShippedSetsAreWellFormed) {
  const std::string folder = std::string(FORERUN_SOURCE_DIR) + "/experiments/prompts/";
  for (const char* name : {"quickstart.jsonl", "python.jsonl"}) {
    const auto prompts = ReadPromptFile(folder + name);
    ASSERT_TRUE(prompts.ok()) << prompts.status();
    EXPECT_GE(prompts->size(), 12u);
  }
}

}  // namespace
}  // namespace forerun
