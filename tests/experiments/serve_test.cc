// `forerun serve`: the requests of an experiment, one by one and in any order, as a run would answer them.
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program_test.h"

namespace forerun {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class ServeTest : public ProgramTest {
 protected:
  // The line about itself, then the answers.
  std::vector<Json> Serve(const std::string& options, const std::string& requests) {
    std::ofstream(folder_ / "requests") << requests;
    const std::string command = std::string(FORERUN_BINARY) + " serve " + kConfig + " " + options + " < " +
                                (folder_ / "requests") + " > " + (folder_ / "answers");
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream answers(folder_ / "answers");
    std::vector<Json> lines;
    for (std::string line; std::getline(answers, line);)
      lines.push_back(ParseJson(line, "answer").value_or(Json()));
    return lines;
  }
};

TEST_F(ServeTest, EveryArmInAnyOrder) {
  const std::string requests =
      "{\"prompt\": 1, \"arm\": 2}\n{\"prompt\": 0, \"arm\": 1}\n{\"prompt\": 1, \"arm\": 0}\n"
      "{\"prompt\": 1, \"arm\": 2}\n{\"prompt\": 0, \"arm\": 0}\n";
  const std::vector<Json> lines = Serve("--limit 2 --set max_new_tokens=8", requests);
  ASSERT_THAT(lines, SizeIs(6));
  EXPECT_EQ(lines[0]["baseline"], "baseline");
  EXPECT_EQ(lines[0]["arms"][2]["drafter"]["type"], "draft_model");
  EXPECT_EQ(lines[0]["max_new_tokens"], 8);
  ASSERT_THAT(lines[0]["prompts"], SizeIs(2));
  EXPECT_GT(lines[0]["prompts"][0]["tokens"].size(), 0u);
  for (int i = 1; i < 6; ++i) {
    EXPECT_THAT(lines[i]["ids"], SizeIs(8)) << i;
    EXPECT_GT(lines[i]["decode_seconds"], 0) << i;
    double parts = 0;
    for (const char* part : {"draft", "verify", "sample", "other"})
      parts += lines[i]["seconds"][part].get<double>();
    EXPECT_NEAR(parts, lines[i]["decode_seconds"].get<double>(), 1e-6 + 1e-3 * parts) << i;
  }
  EXPECT_EQ(lines[1]["ids"], lines[3]["ids"]);  // greedy: the drafter changes nothing
  EXPECT_EQ(lines[2]["ids"], lines[5]["ids"]);
  EXPECT_EQ(lines[3]["rounds"], 8);
  EXPECT_EQ(lines[3]["drafted"], 0);
  EXPECT_LT(lines[1]["rounds"], 8);
  for (const char* count : {"ids", "rounds", "drafted", "accepted"})  // nothing is carried over
    EXPECT_EQ(lines[1][count], lines[4][count]);
}

TEST_F(ServeTest, SaysWhatIsWrongAndGoesOn) {
  const std::vector<Json> lines =
      Serve("--limit 1",
            "{\"prompt\": 1, \"arm\": 0}\n{\"prompt\": 0}\n{\"arm\": 0}\n[]\n"
            "{\"prompt\": 0, \"arm\": 0, \"ids\": [1]}\n{\"prompt\": 0, \"arm\": 0}\n");
  ASSERT_THAT(lines, SizeIs(7));
  const std::vector<std::string> errors = {
      "request.prompt: expected an integer from 0 to 0, found 1", "request.arm: expected an index up to",
      "request.prompt: expected an index up to 0", "request", "request.ids: unknown key"};
  for (int i = 0; i < 5; ++i) EXPECT_THAT(lines[i + 1]["error"].get<std::string>(), HasSubstr(errors[i]));
  EXPECT_THAT(lines[6]["ids"], SizeIs(48));
  ExpectOneLineError(Run({"serve", "nowhere.json"}), 3, "nowhere.json: cannot open");
  EXPECT_THAT(Run({"serve", "--help"}).out, HasSubstr("Example:"));
}

}  // namespace
}  // namespace forerun
