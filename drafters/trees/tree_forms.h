// The form of each round's tree, by the options; what `auto` chose on this machine.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/tree/sequoia.h"
#include "drafters/registry.h"
#include "drafters/trees/tree_growth.h"
#include "drafters/trees/tree_options.h"

namespace forerun {

class TreeForms {
 public:
  TreeForms(TreeOptions options, ChildSampling sampling);

  ChildSampling sampling() const { return sampling_; }
  bool chains_only() const;
  bool measures() const { return options_.type == TreeOptions::Type::kAuto; }
  // Times forwards of both models and chooses the tree that pays most. To be called first where measures().
  absl::Status Measure(const DrafterResources& resources, const Shortlist* shortlist);
  std::string note() const { return note_; }  // what was chosen on this machine; empty: nothing

  // How the task's tree grows, at most `depth_left` and max_depth deep; null where there is nothing to draft.
  std::unique_ptr<TreeGrowth> Start(DraftTask& task, int depth_left);

 private:
  const TreeShape& BestShape(int budget, int depth);

  TreeOptions options_;
  ChildSampling sampling_;
  int most_drafted_ = kMostTreeNodes, deepest_ = kDeepestTree;
  std::optional<SequoiaTable> table_;                // sequoia and auto
  std::map<std::pair<int, int>, TreeShape> shapes_;  // the best, by budget and depth
  std::string note_;
};

}  // namespace forerun
