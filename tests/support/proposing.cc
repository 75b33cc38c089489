#include "tests/support/proposing.h"

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

std::string ChildrenText(const TokenTree& tree, int parent) {
  std::string text;
  for (const int child : tree.Children(parent)) {
    const std::string below = ChildrenText(tree, child);
    absl::StrAppend(&text, text.empty() ? "" : " ", tree.node(child).token);
    if (!below.empty()) absl::StrAppend(&text, "(", below, ")");
  }
  return text;
}

}  // namespace

std::string TreeText(const TokenTree& tree) { return ChildrenText(tree, 0); }

BlockTable PagesOf(Model& model, KvPool& pool, std::span<const TokenId> tokens) {
  BlockTable pages(pool, model.kv_layout_id());
  FORERUN_CHECK(pages.Reserve(static_cast<int>(tokens.size())).ok());
  ForwardBatch batch;
  for (const TokenId token : tokens) batch.rows.push_back({.token = token});
  batch.segments.push_back({&pages, 0, static_cast<int32_t>(tokens.size()), true});
  if (!tokens.empty()) FORERUN_CHECK(model.Forward(batch).ok());
  pages.CommitAll();
  return pages;
}

TokenTree Proposing::DraftTree(const std::vector<TokenId>& committed, const Asked& asked) {
  TokenTree tree(committed.back());
  DraftTask task{.state = state_.get(),
                 .committed = committed,
                 .prompt_length = asked.prompt_length,
                 .sampling = &asked.sampling,
                 .request = asked.request,
                 .budget = asked.budget,
                 .max_depth = asked.max_depth,
                 .prediction = asked.prediction,
                 .evidence = asked.evidence,
                 .target_table = asked.target_table,
                 .features = asked.features,
                 .tree = &tree,
                 .status = absl::OkStatus()};
  EXPECT_TRUE(drafter_.Propose({&task, 1}).ok());
  EXPECT_TRUE(task.status.ok()) << task.status;
  return tree;
}

std::vector<TokenId> Proposing::Draft(const std::vector<TokenId>& committed, int budget,
                                      const Sampling& sampling) {
  const TokenTree tree = DraftTree(committed, {.budget = budget, .max_depth = budget, .sampling = sampling});
  EXPECT_TRUE(tree.is_chain());
  return tree.PathTokens(tree.size() - 1);
}

}  // namespace forerun
