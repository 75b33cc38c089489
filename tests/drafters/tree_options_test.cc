// What may stand under "tree", and what `auto` says.
#include "absl/strings/str_cat.h"
#include "core/model/table_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"

namespace forerun {
namespace {

using testing::HasSubstr;
constexpr int kVocab = 6;

std::string Options(const std::string& tree, const std::string& sample = "greedy") {
  return absl::StrCat(R"({"type": "draft_tree", "sample": ")", sample, R"(", "tree": )", tree, "}");
}

class TreeOptionsTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Drafter>> Make(const std::string& json) {
    return MakeDrafter(*ParseJson(json, "test"), {.target = &target_, .draft = &draft_, .pool = pool_.get()});
  }

  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  TableModel target_{*pool_, ContextTable::Random(kVocab, 2, 1)};
  TableModel draft_{*pool_, ContextTable::Random(kVocab, 2, 2)};
};

TEST_F(TreeOptionsTest, AutoSaysWhatItChoseHere) {
  const int64_t before = pool_->usage().blocks_in_use;
  EXPECT_THAT((*Make(Options(R"({"type": "auto", "max_nodes": 12})")))->note(),
              HasSubstr("measured on this machine"));
  EXPECT_EQ((*Make(Options(R"({"type": "sequoia"})")))->note(), "");
  EXPECT_EQ(pool_->usage().blocks_in_use, before);
}

TEST_F(TreeOptionsTest, RefusesInOneLineWhatItCouldNotUse) {
  const struct {
    std::string options;
    const char* message;
  } cases[] = {
      {Options(R"({"type": "static"})"), "one of widths and paths"},
      {Options(R"({"type": "static", "widths": [2], "paths": [[0]]})"), "one of widths and paths"},
      {Options(R"({"type": "static", "widths": [20, 20]})"), "at most 256 nodes"},
      {Options(R"({"type": "static", "widths": [2.5]})"), "drafter.tree.widths: expected whole numbers"},
      {Options(R"({"type": "static", "paths": [[0], 1]})"), "drafter.tree.paths: expected whole numbers"},
      {Options(R"({"type": "static", "paths": [[1]]})"), "without a gap"},
      {Options(R"({"type": "static", "paths": []})"), "at least one node"},
      {Options(R"({"type": "sequoia", "acceptance": [0.9, 0.2]})"), "a sum of at most 1"},
      {Options(R"({"type": "sequoia", "acceptance": []})"), "a sum of at most 1"},
      {Options(R"({"type": "sequoia", "top_k": 3})"), "top_k"},
      {Options(R"({"type": "dynamic", "depth": 0})"), "drafter.tree.depth"},
      {Options(R"({"type": "dinamic"})"), "dynamic"},
      {Options(R"({"type": "dynamic"})", "sampled"), "expected greedy for a tree of type dynamic"},
      {Options(R"({"type": "opt"})", "coupled"), "expected greedy for a tree of type opt"},
      {Options(R"({"type": "dyspec"})", "sampled"),
       "expected greedy or sampled_without_replacement for a tree of type dyspec"},
      {Options(R"({"type": "dynamic"})", "drawn"), "drafter.sample"},
  };
  for (const auto& [options, message] : cases) {
    const auto made = Make(options);
    ASSERT_FALSE(made.ok()) << options;
    EXPECT_THAT(std::string(made.status().message()), HasSubstr(message)) << options;
    EXPECT_EQ(made.status().message().find('\n'), absl::string_view::npos);
  }
}

}  // namespace
}  // namespace forerun
