// The program as its users meet it: exit codes, one line for an error, stable output.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/json.h"
#include "experiments/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program_test.h"

namespace forerun {
namespace {

using ::testing::HasSubstr;

class CommandLineTest : public ProgramTest {};

TEST_F(CommandLineTest, HelpEverywhere) {
  const ProgramResult help = Run({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("Exit codes:"));
  for (const char* command : {"run", "compare", "generate", "score", "tokenize", "list"}) {
    const ProgramResult result = Run({command, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr("Example:")) << command;
    EXPECT_THAT(help.out, HasSubstr(command));
  }
}

TEST_F(CommandLineTest, WrongUsage) {
  ExpectOneLineError(Run({}), 2, "subcommand");
  ExpectOneLineError(Run({"frobnicate"}), 2, "frobnicate");
  ExpectOneLineError(Run({"list", "nonsense"}), 2, "nonsense");
  ExpectOneLineError(Run({"generate", "--target", kTarget}), 2, "--prompt");
  ExpectOneLineError(Run({"generate", "--target", kTarget, "--prompt", "a", "--chat", "b"}), 2, "--prompt");
}

TEST_F(CommandLineTest, ConfigErrors) {
  ExpectOneLineError(Run({"run", "nowhere.json"}), 3, "nowhere.json: cannot open: No such file or directory");
  ExpectOneLineError(RunSmoke({"--set", "engin={}"}), 2, "smoke.json: engin: unknown key; nearest is engine");
  ExpectOneLineError(RunSmoke({"--set", "arms.1.drafter.num_speculatve_tokens=3"}), 2,
                     "nearest is num_speculative_tokens");
  ExpectOneLineError(RunSmoke({"--set", "arms.2.drafter.sampel=\"greedy\""}), 2, "nearest is sample");
  ExpectOneLineError(RunSmoke({"--set", "arms=[{\"name\": \"a\", \"drafter\": {\"type\": \"none\"}}]"}), 2,
                     "never used");
  ExpectOneLineError(RunSmoke({"--set", "prompts.categories=[\"poems\"]"}), 2, "\"poems\" is not in");
  ExpectOneLineError(RunSmoke({"--set", "target=missing-model"}), 3, "missing-model");
  ExpectOneLineError(RunSmoke({"--set", "prompts.file=none.jsonl"}), 3, "none.jsonl");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs"));  // a config that is wrong leaves nothing behind
}

TEST_F(CommandLineTest, BadModelFile) {
  std::ofstream(folder_ / "bad.gguf") << "this is no model";
  ExpectOneLineError(Run({"generate", "--target", "bad.gguf", "--prompt", "x"}), 3, "bad.gguf");
  ExpectOneLineError(Run({"tokenize", "--model", "bad.gguf", "--text", "x"}), 3, "bad.gguf");
}

TEST_F(CommandLineTest, VocabulariesThatDiffer) {
  // The draft with one letter of its vocabulary changed.
  std::string bytes = *ReadFile(kDraft);
  const std::size_t word = bytes.find("<|endoftext|>");
  ASSERT_NE(word, std::string::npos);
  bytes[word + 2] = 'E';
  std::ofstream(folder_ / "other.gguf") << bytes;
  ExpectOneLineError(Run({"generate", "--target", kTarget, "--draft", "other.gguf", "--prompt", "x"}), 2,
                     "token 0: \"<|endoftext|>\"");
}

TEST_F(CommandLineTest, UnusedDraftModel) {
  ExpectOneLineError(
      Run({"generate", "--target", kTarget, "--draft", kDraft, "--drafter", "ngram", "--prompt", "x"}), 2,
      "never used");
}

TEST_F(CommandLineTest, UnwritableDirectory) {
  if (geteuid() == 0) {
    ExpectOneLineError(RunSmoke({"--out", "/proc/forerun-run"}), 3, "/proc/forerun-run: cannot create");
    return;
  }
  std::filesystem::create_directory(folder_ / "shut");
  std::filesystem::permissions(folder_ / "shut", std::filesystem::perms::owner_read);
  ExpectOneLineError(RunSmoke({"--out", "shut/run"}), 3, "shut/run: cannot create: Permission denied");
}

TEST_F(CommandLineTest, GenerateQuietPrintsTheContinuationAlone) {
  const std::vector<std::string> arguments = {"generate", "--target",           kTarget,
                                              "--prompt", "import os\n",        "--max-new-tokens",
                                              "12",       "--ignore-end-tokens"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), arguments.begin(), arguments.end());
    return Run(more);
  };
  const ProgramResult quiet = with({"--quiet"});
  EXPECT_EQ(quiet.exit_code, 0) << quiet.err;
  EXPECT_EQ(quiet.err, "");
  const ProgramResult loud = with({});
  EXPECT_EQ(loud.out, quiet.out + "\n");
  EXPECT_THAT(loud.err, HasSubstr("12 tokens"));
  EXPECT_EQ(with({"--quiet", "--draft", kDraft, "--num-speculative-tokens", "3"}).out, quiet.out);
  EXPECT_EQ(with({"--quiet", "--drafter", "ngram"}).out, quiet.out);
  const auto json = ParseJson(with({"--json", "--log-probs"}).out, "generate");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ((*json)["text"], quiet.out);
  EXPECT_EQ((*json)["ids"].size(), 12u);
  EXPECT_EQ((*json)["log_probs"].size(), 12u);
}

TEST_F(CommandLineTest, GenerateSaysWhatContradicts) {
  const std::vector<std::string> start = {"generate", "--target", kTarget, "--prompt", "x"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), start.begin(), start.end());
    return Run(more);
  };
  ExpectOneLineError(with({"--num-speculative-tokens", "4"}), 2, "type is none");
  ExpectOneLineError(with({"--drafter", "draft_model"}), 2, "--draft");
  ExpectOneLineError(with({"--drafter", "ngarm"}), 2, "nearest: ngram");
  ExpectOneLineError(with({"--rule", "greedy", "--temperature", "0.5"}), 2, "greedy");
  ExpectOneLineError(with({"--system", "x"}), 2, "--system: needs --chat");
  ExpectOneLineError(with({"--temperature", "-1"}), 2, "temperature");
}

TEST_F(CommandLineTest, TokenizeAndScoreAgreeOnIds) {
  std::ofstream(folder_ / "text.txt") << "def f(x):\n    return x\n";
  const ProgramResult ids = Run({"tokenize", "--model", kTarget, "--file", "text.txt", "--ids"});
  ASSERT_EQ(ids.exit_code, 0) << ids.err;
  std::ofstream(folder_ / "ids.json") << ids.out;
  const auto by_text =
      ParseJson(Run({"score", "--model", kTarget, "--file", "text.txt", "--json"}).out, "score");
  const auto by_ids = ParseJson(
      Run({"score", "--model", kTarget, "--ids-file", "ids.json", "--json", "--chunk", "3", "--top", "2"})
          .out,
      "score");
  ASSERT_TRUE(by_text.ok()) << by_text.status();
  ASSERT_TRUE(by_ids.ok()) << by_ids.status();
  EXPECT_EQ((*by_text)["nll"], (*by_ids)["nll"]);  // whatever the chunks, the same bits
  EXPECT_EQ((*by_ids)["nll"].size() + 1, (*by_ids)["ids"].size());
  EXPECT_EQ((*by_ids)["top"].size(), 2u);
  const auto best = ParseJson(
      Run({"score", "--model", kTarget, "--ids-file", "ids.json", "--json", "--best"}).out, "score");
  ASSERT_TRUE(best.ok()) << best.status();
  ASSERT_EQ((*best)["best"].size(), (*best)["nll"].size());
  for (const Json& token : (*best)["best"]) EXPECT_GE(token[1].get<double>(), 0);
  ExpectOneLineError(Run({"score", "--model", kTarget, "--ids-file", "text.txt", "--json"}), 2, "text.txt");
}

TEST_F(CommandLineTest, OutOfKvMemory) {
  std::string prompt;
  for (int i = 0; i < 150; ++i) prompt += "x = y\n";
  const ProgramResult result =
      Run({"generate", "--target", kTarget, "--prompt", prompt, "--kv-budget-mib", "4", "--exact", "--quiet",
           "--ignore-end-tokens", "--max-new-tokens", "600"});
  ExpectOneLineError(result, 4, "KV pool");
}

TEST_F(CommandLineTest, Lists) {
  EXPECT_THAT(Run({"list", "drafters"}).out, HasSubstr("ngram"));
  EXPECT_THAT(Run({"list", "rules"}).out, HasSubstr("rejection"));
  EXPECT_THAT(Run({"list", "kernels"}).out, HasSubstr("matmul_a8"));
  EXPECT_THAT(Run({"list", "models"}).out, HasSubstr("fetch_models.py"));
}

}  // namespace
}  // namespace forerun
