// `forerun corpus build`, and drafting from what it wrote: the text stays that of plain decoding.
#include <fstream>

#include "drafters/lookup/corpus_file.h"
#include "experiments/texts/corpus_texts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"
#include "tests/support/program_test.h"
#include "tests/support/test_models.h"
#include "tests/support/toy_tokenizer.h"

namespace forerun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kCode[] =
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n"
    "        self.items.append(item)\n\n    def pop(self):\n        return self.items.pop()\n";

class Corpus : public ProgramTest {
 protected:
  Corpus() {
    std::ofstream(folder_ / "stack.py") << kCode;
    std::ofstream(folder_ / "more.jsonl") << R"({"id": 1, "text": "def push(self, item):\n"})"
                                          << "\n\n"
                                          << R"({"turns": ["import os\n", "import sys\n"]})"
                                          << "\n";
  }
  ProgramResult Build(const std::string& kind, const std::string& out) {
    return Run({"corpus", "build", "--model", TinyTargetPath(), "--kind", kind, "--out", out, "stack.py",
                "more.jsonl"});
  }
  std::string Generated(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"generate",       "--target", TinyTargetPath(),   "--prompt",
                                          "class Stack:\n", "--quiet",  "--max-new-tokens", "40"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
};

TEST_F(Corpus, WhatIsBuiltIsDraftedFrom) {
  const ProgramResult suffix = Build("suffix_array", "suffix.corpus");
  EXPECT_EQ(suffix.exit_code, 0) << suffix.err;
  EXPECT_THAT(suffix.out, HasSubstr("4 texts"));
  EXPECT_EQ(Build("ngram", "ngram.corpus").exit_code, 0);
  const std::string plain = Generated({});
  for (const std::string drafter : {"rest", "suffix", "sam", "ngram_cache"}) {
    const std::string file = drafter == "ngram_cache" ? "ngram.corpus" : "suffix.corpus";
    EXPECT_EQ(Generated({"--drafter", drafter, "--drafter-options", R"({"corpus": ")" + file + "\"}"}), plain)
        << drafter;
  }
}

TEST_F(Corpus, TheSameTextsGiveTheSameFile) {
  Build("suffix_array", "a");
  Build("suffix_array", "b");
  std::ifstream a(folder_ / "a", std::ios::binary), b(folder_ / "b", std::ios::binary);
  const std::string first(std::istreambuf_iterator<char>(a), {}),
      second(std::istreambuf_iterator<char>(b), {});
  EXPECT_GT(first.size(), 64u);
  EXPECT_EQ(first, second);
}

TEST_F(Corpus, WhatIsWrongIsOneLine) {
  Build("ngram", "ngram.corpus");
  const auto generate = [&](const std::string& corpus) {
    return Run({"generate", "--target", TinyTargetPath(), "--prompt", "x", "--drafter", "rest",
                "--drafter-options", R"({"corpus": ")" + corpus + "\"}"});
  };
  ExpectOneLineError(generate("ngram.corpus"), 2, "kind: expected suffix_array, found ngram");
  ExpectOneLineError(generate("stack.py"), 2, "no corpus");
  ExpectOneLineError(generate("missing"), 3, "missing");
  ExpectOneLineError(Run({"corpus", "build", "--model", TinyTargetPath(), "--out", "x", "missing.py"}), 3,
                     "missing.py");
  ExpectOneLineError(
      Run({"corpus", "build", "--model", TinyTargetPath(), "--out", "x", "--min-count", "2", "stack.py"}), 2,
      "--min-count: needs --kind ngram");
  std::ofstream(folder_ / "bad.jsonl") << R"({"text": 5})";
  ExpectOneLineError(Run({"corpus", "build", "--model", TinyTargetPath(), "--out", "stack.py", "stack.py"}),
                     2, "found another file: stack.py");
  ExpectOneLineError(Run({"corpus", "build", "--model", TinyTargetPath(), "--out", "/dev/null", "stack.py"}),
                     2, "found another file: /dev/null");
  ExpectOneLineError(Run({"corpus", "build", "--model", TinyTargetPath(), "--out", "x", "bad.jsonl"}), 2,
                     "bad.jsonl:1.text: expected text, found 5");
  std::ofstream(folder_ / "empty.txt").close();
  ExpectOneLineError(Run({"corpus", "build", "--model", TinyTargetPath(), "--out", "x", "empty.txt"}), 2,
                     "found none");
}

TEST(CorpusTexts, EachTextHasAnEnd) {
  const ToyTokenizer tokenizer(3);
  double done = 0;
  const auto tokens = EncodeTexts({"ab", "", "c"}, tokenizer, [&](double share) { done = share; });
  ASSERT_TRUE(tokens.ok());
  EXPECT_THAT(*tokens, ElementsAre(0, 1, kTextEnd, 2, kTextEnd));
  EXPECT_EQ(done, 1);
}

TEST(CorpusTexts, LongTextsAreCutWhereNothingJoins) {
  std::string text;
  while (text.size() < 3 << 20) text += "abc\n  ba\n";
  const ToyTokenizer tokenizer(3);
  int parts = 0;
  const auto tokens = EncodeTexts({text}, tokenizer, [&](double) { ++parts; });
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(parts, 3);
  auto whole = *tokenizer.Encode(text, {});
  whole.push_back(kTextEnd);
  EXPECT_EQ(*tokens, whole);
}

}  // namespace
}  // namespace forerun
