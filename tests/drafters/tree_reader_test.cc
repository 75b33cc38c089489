// A tree that is read level by level gives every node the bits that its path alone would have.
#include "drafters/trees/tree_reader.h"

#include <random>

#include "gtest/gtest.h"
#include "tests/support/scoring.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;

class TreeReading : public testing::Test {
 protected:
  // What a single chain says after its last token.
  std::vector<float> Alone(const Tokens& text) {
    BlockTable table(*test_.pool, test_.model().kv_layout_id());
    return Feed(test_.model(), table, text, 512, WantedOutput::kFull).back().logits;
  }
  TokenId AnyToken() { return static_cast<TokenId>(random_() % test_.model().vocab_size()); }
  Tokens AnyText(int length) {
    Tokens text;
    for (int i = 0; i < length; ++i) text.push_back(AnyToken());
    return text;
  }
  // Rows 0 .. i of a round, and the paths that lead to them.
  struct Tree {
    std::vector<TreeRow> rows;
    Tokens Path(int row) const {
      Tokens path;
      for (; row >= 0; row = rows[row].parent) path.insert(path.begin(), rows[row].token);
      return path;
    }
  };
  // A round over all sequences together, checked row by row; the trees that were read.
  std::vector<Tree> Round(std::span<const Tokens> texts,
                          std::span<const std::unique_ptr<DrafterState>> states) {
    std::vector<DraftTask> tasks;
    std::vector<Tree> trees(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
      tasks.push_back({.state = states[i].get(), .committed = texts[i], .status = absl::OkStatus()});
    for (int level = 0; level < 4; ++level) {
      std::vector<TreeStep> steps;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        std::vector<TreeRow> rows;
        const int known = static_cast<int>(trees[i].rows.size());
        for (std::size_t row = 0; level > 0 && row < 1 + random_() % 6; ++row)
          rows.push_back({AnyToken(), static_cast<int>(random_() % (known + 1)) - 1});
        trees[i].rows.insert(trees[i].rows.end(), rows.begin(), rows.end());
        steps.push_back({.task = &tasks[i], .rows = rows, .wanted = WantedOutput::kFull, .outputs = {}});
      }
      reader_.Read(steps);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_TRUE(tasks[i].status.ok()) << tasks[i].status;
        const std::size_t count = steps[i].outputs.size();
        EXPECT_EQ(count, std::max<std::size_t>(1, steps[i].rows.size()));
        for (std::size_t row = 0; row < count; ++row) {
          Tokens path = texts[i];
          const Tokens drafted =
              level == 0 ? Tokens{} : trees[i].Path(static_cast<int>(trees[i].rows.size() - count + row));
          path.insert(path.end(), drafted.begin(), drafted.end());
          EXPECT_TRUE(SameBits(steps[i].outputs[row].logits, Alone(path))) << "level " << level;
        }
      }
    }
    return trees;
  }

  TestModel test_{TinyDraftPath(), {}, 2};
  TreeReader reader_{test_.model(), *test_.pool, nullptr};
  std::mt19937 random_{7};
};

TEST_F(TreeReading, IsReadingEachPathAloneBitForBitRoundAfterRound) {
  std::vector<Tokens> texts = {AnyText(1), AnyText(15), AnyText(40)};
  std::vector<std::unique_ptr<DrafterState>> states;
  for (int i = 0; i < 3; ++i) states.push_back(reader_.Open());
  for (int round = 0; round < 5; ++round) {
    const int64_t before = test_.model().counters().rows;
    const std::vector<Tree> trees = Round(texts, states);
    EXPECT_GT(test_.model().counters().rows, before);
    for (int i = 0; i < 3; ++i) {
      // A path is accepted, part of one, or none; then a token that was not drafted.
      const Tokens path = trees[i].Path(static_cast<int>(random_() % (trees[i].rows.size() + 1)) - 1);
      texts[i].insert(texts[i].end(), path.begin(), path.end());
      texts[i].push_back(AnyToken());
    }
  }
  states.clear();
  EXPECT_EQ(test_.pool->usage().blocks_in_use, 0);
}

TEST_F(TreeReading, CatchingUpOrATextThatTurnedOutOtherwiseLeavesNoTrace) {
  std::vector<Tokens> texts = {AnyText(20)};
  std::vector<std::unique_ptr<DrafterState>> states;
  states.push_back(reader_.Open());
  Round(texts, states);
  DraftTask task{.state = states[0].get(), .committed = texts[0], .status = absl::OkStatus()};
  reader_.CatchUp(task);
  EXPECT_TRUE(task.status.ok());
  Round(texts, states);
  texts[0].resize(9);
  texts[0].back() = (texts[0].back() + 1) % test_.model().vocab_size();
  Round(texts, states);
}

}  // namespace
}  // namespace forerun
