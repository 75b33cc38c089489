#include "core/base/json.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Json Parse(const std::string& text) {
  absl::StatusOr<Json> json = ParseJson(text, "test.json");
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? *json : Json();
}

std::string ParseError(const std::string& text) {
  return std::string(ParseJson(text, "test.json").status().message());
}

TEST(ParseJson, SyntaxErrorNamesSourceLineAndColumn) {
  const std::string message = ParseError("{\n  \"a\": 1,\n  oops\n}");
  EXPECT_THAT(message, HasSubstr("test.json: parse error at line 3"));
  EXPECT_THAT(message, Not(HasSubstr("json.exception")));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

TEST(ParseJson, RefusesWhatWouldBeSilent) {
  EXPECT_THAT(ParseError("{\"a\": 1, \"a\": 2}"), HasSubstr("key \"a\" appears twice"));
  EXPECT_TRUE(ParseJson("{\"a\": {\"k\": 1}, \"b\": {\"k\": 2}}", "").ok());  // not the same object
  EXPECT_THAT(ParseError("{} {}"), HasSubstr("test.json"));
  EXPECT_FALSE(ParseJson("", "").ok());
  EXPECT_FALSE(ParseJson("[1e999]", "").ok());
  EXPECT_FALSE(ParseJson("\"\xff\"", "").ok());
  EXPECT_THAT(ParseError(std::string(100000, '[')), HasSubstr("200 levels"));
}

TEST(ReadJsonFile, MissingFileAndDirectory) {
  EXPECT_EQ(ReadJsonFile("/nonexistent/x.json").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(ReadJsonFile("/nonexistent/x.json").status().message()),
              HasSubstr("/nonexistent/x.json"));
  EXPECT_FALSE(ReadJsonFile("/tmp").ok());
}

TEST(DumpJson, KeepsOrderAndSurvivesBrokenUtf8) {
  Json json;
  json["z"] = 1;
  json["a"] = "x\xff";
  EXPECT_EQ(DumpJson(json), "{\"z\":1,\"a\":\"x\xEF\xBF\xBD\"}");
}

TEST(Nearest, FindsTyposAndSwapsButNotStrangers) {
  const std::vector<std::string> keys = {"temperature", "top_k", "num_speculative_tokens"};
  EXPECT_EQ(Nearest("temprature", keys), "temperature");
  EXPECT_EQ(Nearest("tpo_k", keys), "top_k");
  EXPECT_EQ(Nearest("num_speculative_token", keys), "num_speculative_tokens");
  EXPECT_EQ(Nearest("banana", keys), "");
}

TEST(ObjectReader, ReadsEveryKindAndAcceptsKnownKeys) {
  const Json json = Parse(R"({"i": 3, "n": 0.5, "b": true, "s": "x", "l": ["a", "b"], "o": {}, "c": "red"})");
  ObjectReader reader(json, "thing");
  EXPECT_EQ(reader.Int("i", 0, 0, 10), 3);
  EXPECT_EQ(reader.Int("absent", 7, 0, 10), 7);
  EXPECT_EQ(reader.Number("n", 0, 0, 1), 0.5);
  EXPECT_EQ(reader.Number("i", 0, 0, 5), 3.0);
  EXPECT_TRUE(reader.Bool("b", false));
  EXPECT_EQ(reader.RequiredString("s"), "x");
  EXPECT_THAT(reader.Strings("l"), ElementsAre("a", "b"));
  EXPECT_NE(reader.Object("o"), nullptr);
  EXPECT_EQ(reader.Array("absent_array"), nullptr);
  EXPECT_EQ(reader.Choice("c", "blue", {"red", "blue"}), "red");
  EXPECT_TRUE(reader.Finish().ok());
}

TEST(ObjectReader, UnknownKeyNamesTheNearest) {
  const Json json = Parse(R"({"num_speculatve_tokens": 4})");
  ObjectReader reader(json, "arms.1.drafter");
  reader.Int("num_speculative_tokens", 4, 0, 64);
  EXPECT_EQ(reader.Finish().message(),
            "arms.1.drafter.num_speculatve_tokens: unknown key; nearest is num_speculative_tokens");
}

TEST(ObjectReader, UnknownKeyWithoutNeighbourListsTheKnown) {
  const Json json = Parse(R"({"banana": 4})");
  ObjectReader reader(json, "");
  reader.Int("k", 4, 0, 64);
  EXPECT_EQ(reader.Finish().message(), "banana: unknown key; known are k");
}

std::string IntError(const std::string& value) {
  const Json json = Parse("{\"k\": " + value + "}");
  ObjectReader reader(json, "d");
  EXPECT_EQ(reader.Int("k", 4, 0, 64), 4);
  return std::string(reader.Finish().message());
}

TEST(ObjectReader, IntegersAreIntegersInRange) {
  EXPECT_EQ(IntError("65"), "d.k: expected an integer from 0 to 64, found 65");
  EXPECT_THAT(IntError("-1"), HasSubstr("found -1"));
  EXPECT_THAT(IntError("2.0"), HasSubstr("found 2.0"));
  EXPECT_THAT(IntError("\"2\""), HasSubstr("found \"2\""));
  EXPECT_THAT(IntError("null"), HasSubstr("found null"));
  EXPECT_THAT(IntError("18446744073709551615"), HasSubstr("found 18446744073709551615"));
  EXPECT_THAT(IntError("[1]"), HasSubstr("found an array"));
}

TEST(ObjectReader, LargestIntegerFits) {
  const Json json = Parse("{\"seed\": 9223372036854775807}");
  ObjectReader reader(json, "");
  EXPECT_EQ(reader.Int("seed", 0, 0, std::numeric_limits<int64_t>::max()),
            std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(reader.Finish().ok());
}

TEST(ObjectReader, FirstErrorSticks) {
  const Json json = Parse(R"({"a": "x", "b": "y", "stranger": 1})");
  ObjectReader reader(json, "o");
  reader.Int("a", 0, 0, 1);
  reader.Bool("b", false);
  EXPECT_THAT(std::string(reader.Finish().message()), HasSubstr("o.a: expected an integer"));
}

TEST(ObjectReader, ChoiceListsAndSuggests) {
  const Json json = Parse(R"({"rule": "greddy"})");
  ObjectReader reader(json, "verifier");
  reader.Choice("rule", "greedy", {"greedy", "rejection"});
  EXPECT_EQ(reader.Finish().message(),
            "verifier.rule: expected one of greedy, rejection (nearest: greedy), found \"greddy\"");
}

TEST(ObjectReader, WrongTypesAreNamed) {
  const Json json = Parse(R"({"l": ["a", 1], "o": [], "b": 0, "s": 5})");
  for (const char* key : {"l", "o", "b", "s", "missing"}) {
    ObjectReader reader(json, "x");
    if (key[0] == 'l') reader.Strings("l");
    if (key[0] == 'o') reader.Object("o");
    if (key[0] == 'b') reader.Bool("b", true);
    if (key[0] == 's') reader.String("s", "");
    if (key[0] == 'm') reader.RequiredString("missing");
    EXPECT_THAT(std::string(reader.Finish().message()), HasSubstr(std::string("x.") + key + ": expected"));
  }
}

TEST(ObjectReader, ListsOfNumbers) {
  const Json json = Parse(R"({"n": [0.5, 1, 2], "i": [3, 0], "b": [1, 3], "f": [1.5], "t": ["x"], "s": 1})");
  ObjectReader reader(json, "x");
  EXPECT_EQ(reader.Numbers("n", 0, 2), (std::vector<double>{0.5, 1, 2}));
  EXPECT_EQ(reader.Ints("i", 0, 3), (std::vector<int>{3, 0}));
  EXPECT_TRUE(reader.Numbers("missing", 0, 1).empty());
  for (const char* key : {"b", "f", "t", "s"}) {
    ObjectReader bad(json, "x");
    bad.Ints(key, 0, 2);
    EXPECT_THAT(std::string(bad.Finish().message()),
                HasSubstr(std::string("x.") + key + ": expected a list"));
  }
}

TEST(ObjectReader, NotAnObject) {
  const Json json = Parse("[1, 2]");
  ObjectReader reader(json, "sampling");
  EXPECT_EQ(reader.Int("k", 4, 0, 64), 4);
  EXPECT_FALSE(reader.Has("k"));
  EXPECT_EQ(reader.Finish().message(), "sampling: expected an object, found an array");
}

}  // namespace
}  // namespace forerun
