// Forms that depend on what the model says hold what they promise: the likeliest paths of all.
#include <algorithm>
#include <functional>

#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/proposing.h"

namespace forerun {
namespace {

using Tokens = std::vector<TokenId>;
constexpr int kVocab = 6;

class TreeGrowing : public testing::Test {
 protected:
  TokenTree Grown(const std::string& form, const Tokens& text, int budget, int depth) {
    const auto drafter = MakeDrafterOrDie(R"({"type": "draft_tree", "tree": )" + form + "}",
                                          {.target = &target_, .draft = &draft_, .pool = pool_.get()});
    return Proposing(*drafter).DraftTree(text, {.budget = budget, .max_depth = depth});
  }
  static Tokens Text(int length) {
    Tokens text;
    for (int i = 0; i < length; ++i) text.push_back(static_cast<TokenId>((i * 7 + i / 3) % kVocab));
    return text;
  }
  // The draft model's probability of each path of at most `depth` words after `text`.
  std::vector<std::pair<double, Tokens>> AllPaths(const Tokens& text, int depth) const {
    std::vector<std::pair<double, Tokens>> paths;
    const std::function<void(Tokens, double)> walk = [&](Tokens path, double reach) {
      if (!path.empty()) paths.emplace_back(reach, path);
      if (static_cast<int>(path.size()) == depth) return;
      Tokens context = text;
      context.insert(context.end(), path.begin(), path.end());
      for (TokenId token = 0; token < kVocab; ++token) {
        const double p = draft_.table().Row(context)[token];
        path.push_back(token);
        if (p > 0) walk(path, reach * p);
        path.pop_back();
      }
    };
    walk({}, 1);
    return paths;
  }
  double Reach(const Tokens& text, const TokenTree& tree) const {
    double sum = 0;
    for (int node = 1; node < tree.size(); ++node) {
      Tokens context = text;
      double reach = 1;
      for (const TokenId token : tree.PathTokens(node)) {
        reach *= draft_.table().Row(context)[token];
        context.push_back(token);
      }
      sum += reach;
    }
    return sum;
  }

  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  TableModel target_{*pool_, ContextTable::Random(kVocab, 2, 1)};
  TableModel draft_{*pool_, ContextTable::Random(kVocab, 2, 2)};
};

// With enough children a node and no early stop, the three dynamic forms are the likeliest paths of all.
TEST_F(TreeGrowing, DynamicFormsHoldTheLikeliestPaths) {
  for (const int length : {1, 6, 11, 23}) {
    const Tokens text = Text(length);
    for (const int depth : {1, 2, 4}) {
      std::vector<std::pair<double, Tokens>> paths = AllPaths(text, depth);
      std::sort(paths.rbegin(), paths.rend());
      for (const int budget : {1, 3, 10, 30}) {
        double best = 0;
        for (int i = 0; i < std::min<int>(budget, paths.size()); ++i) best += paths[i].first;
        for (const char* form : {R"({"type": "dynamic", "top_k": 64, "depth": 9})",
                                 R"({"type": "opt", "threshold": 0})", R"({"type": "dyspec"})"}) {
          const TokenTree tree = Grown(form, text, budget, depth);
          // Opt stops where a level adds nothing, but never without need.
          EXPECT_NEAR(Reach(text, tree), best, 1e-6) << form << ", budget " << budget << ", depth " << depth;
        }
      }
    }
  }
}

TEST_F(TreeGrowing, OptStopsWhereALevelAddsTooLittle) {
  EXPECT_EQ(Grown(R"({"type": "opt", "threshold": 5})", Text(9), 12, 9).max_depth(), 1);
  EXPECT_GT(Grown(R"({"type": "opt", "threshold": 0})", Text(9), 12, 9).max_depth(), 1);
}

}  // namespace
}  // namespace forerun
