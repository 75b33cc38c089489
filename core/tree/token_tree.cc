// Trees are small: children are found by a scan.
#include "core/tree/token_tree.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace forerun {

const char* ProposalName(Proposal proposal) {
  switch (proposal) {
    case Proposal::kDeterministic:
      return "deterministic";
    case Proposal::kSampled:
      return "sampled";
    case Proposal::kSampledWithoutReplacement:
      return "sampled_without_replacement";
  }
  FORERUN_CHECK(false);
}

int TokenTree::Add(int parent, TokenId token) {
  FORERUN_CHECK(parent >= 0 && parent < size());
  if (proposal(parent) != Proposal::kSampled) {
    for (const int child : Children(parent)) FORERUN_CHECK(nodes_[child].token != token);
  }
  nodes_.push_back({token, parent, nodes_[parent].depth + 1});
  rules_.emplace_back();
  max_depth_ = std::max(max_depth_, nodes_.back().depth);
  return size() - 1;
}

void TokenTree::SetProposal(int parent, Proposal proposal, std::optional<Distribution> q) {
  FORERUN_CHECK(parent >= 0 && parent < size());
  FORERUN_CHECK(q.has_value() == (proposal != Proposal::kDeterministic));
  if (proposal != Proposal::kSampled) {
    std::vector<TokenId> tokens;
    for (const int child : Children(parent)) tokens.push_back(nodes_[child].token);
    std::sort(tokens.begin(), tokens.end());
    FORERUN_CHECK(std::adjacent_find(tokens.begin(), tokens.end()) == tokens.end());
  }
  rules_[parent] = {proposal, std::move(q)};
}

std::vector<int> TokenTree::Children(int node) const {
  std::vector<int> children;
  for (int index = node + 1; index < size(); ++index) {
    if (nodes_[index].parent == node) children.push_back(index);
  }
  return children;
}

bool TokenTree::is_chain() const {
  for (int index = 1; index < size(); ++index) {
    if (nodes_[index].parent != index - 1) return false;
  }
  return true;
}

std::vector<TokenId> TokenTree::PathTokens(int node) const {
  FORERUN_CHECK(node >= 0 && node < size());
  std::vector<TokenId> path(nodes_[node].depth);
  for (int index = node; index > 0; index = nodes_[index].parent)
    path[nodes_[index].depth - 1] = nodes_[index].token;
  return path;
}

}  // namespace forerun
