#include "tests/support/proposing.h"

#include "gtest/gtest.h"

namespace forerun {

std::vector<TokenId> Proposing::Draft(const std::vector<TokenId>& committed, int budget,
                                      const Sampling& sampling) {
  TokenTree tree(committed.back());
  DraftTask task{.state = state_.get(),
                 .committed = committed,
                 .prompt_length = 1,
                 .sampling = &sampling,
                 .request = 3,
                 .budget = budget,
                 .max_depth = budget,
                 .tree = &tree,
                 .status = absl::OkStatus()};
  EXPECT_TRUE(drafter_.Propose({&task, 1}).ok());
  EXPECT_TRUE(task.status.ok()) << task.status;
  return tree.PathTokens(tree.size() - 1);
}

}  // namespace forerun
