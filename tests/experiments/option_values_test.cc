// Values that no option takes, and standard streams that are closed.
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program_test.h"

namespace forerun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class OptionValuesTest : public ProgramTest {
 protected:
  ProgramResult Generate(std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "--target", kTarget, "--prompt", "x"});
    return Run(more);
  }
  int Shell(const std::string& arguments) {
    return std::system(
        ("cd " + folder_.path() + " && " + std::string(FORERUN_BINARY) + " " + arguments).c_str());
  }
};

TEST_F(OptionValuesTest, RangesArePrintedInWholeDigits) {
  ExpectOneLineError(Generate({"--num-speculative-tokens=-1"}), 2, "expected an integer from 0 to 256");
  ExpectOneLineError(Generate({"--threads", "257"}), 2, "expected an integer from 0 to 256, found \"257\"");
  ExpectOneLineError(Generate({"--max-new-tokens", "0"}), 2, "expected an integer from 1 to 1048576");
  ExpectOneLineError(Generate({"--kv-budget-mib", "99999999999"}), 2, "from 4 to 1048576");
  for (const char* seed : {"-1", "18446744073709551615"}) {
    ExpectOneLineError(Generate({std::string("--seed=") + seed}), 2,
                       "expected an integer from 0 to 9223372036854775807");
  }
  ExpectOneLineError(Generate({"--chat-template", "gemma"}), 2, "--chat-template: needs --chat");
}

TEST_F(OptionValuesTest, RunRefusesWhatMeansNothing) {
  for (const char* budget : {"nan", "inf", "0", "-1", "soon"}) {
    ExpectOneLineError(RunSmoke({std::string("--budget=") + budget}), 2, "expected a number more than 0");
  }
  ExpectOneLineError(RunSmoke({"--out", ""}), 2, "--out: expected something");
}

TEST_F(OptionValuesTest, WideTokenIdsDoNotWrap) {
  std::ofstream(folder_ / "ids.json") << "[4294967297, 1]";
  ExpectOneLineError(Run({"score", "--model", kTarget, "--ids-file", "ids.json"}), 2,
                     "--ids-file: expected token ids from 0 to 2147483647, found 4294967297");
  ExpectOneLineError(
      Run({"bench", "model", kTarget, "--rows", "1", "--prefill", "0", "--ids-file", "ids.json"}), 2,
      "ids: expected token ids from 0 to 2147483647, found 4294967297");
}

TEST_F(OptionValuesTest, ClosedStandardStreamsAreNotReused) {
  Shell("run " + kConfig + " --limit 1 --set max_new_tokens=8 --out run <&- >&- 2>&-");
  EXPECT_THAT(ReadFile(folder_ / "run/requests.jsonl").value_or(""), HasSubstr("\"unit\""));
  EXPECT_THAT(ReadFile(folder_ / "run/requests.jsonl").value_or(""), Not(HasSubstr("requests are in")));
  EXPECT_EQ(Run({"compare", "run"}).exit_code, 0);
  ASSERT_EQ(Shell("tokenize --model " + kTarget + " --file - --ids <&- > ids"), 0);
  EXPECT_EQ(ReadFile(folder_ / "ids").value_or(""), "[]\n");  // not the model's bytes
}

TEST_F(OptionValuesTest, HelpToAFullDisk) {
  std::ofstream full("/dev/full");
  if (!full) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(WEXITSTATUS(Shell("--help > /dev/full 2> error")), 4);
  EXPECT_EQ(ReadFile(folder_ / "error").value_or(""), "forerun: cannot write the output\n");
}

}  // namespace
}  // namespace forerun
