// Trees of several sequences growing together: one forward of their reader a level.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "drafters/trees/tree_growth.h"
#include "drafters/trees/tree_reader.h"

namespace forerun {

struct GrowingTree {
  DraftTask* task;
  std::unique_ptr<TreeGrowth> growth;
  std::vector<TreeRow> rows = {};  // to be read next; none: the root
};

// Until all are done. `reader`: has Read(std::span<TreeStep>). `start`: of a DraftTask& the growth of its
// tree, or none where nothing is to be drafted for it.
template <class Reader, class Start>
void GrowTrees(Reader& reader, std::span<DraftTask> tasks, Start start) {
  std::vector<GrowingTree> live;
  for (DraftTask& task : tasks) {
    if (std::unique_ptr<TreeGrowth> growth = start(task)) live.push_back({&task, std::move(growth)});
  }
  while (!live.empty()) {
    std::vector<TreeStep> steps;
    for (GrowingTree& tree : live) {
      const TreeGrowth::Wish wish = tree.growth->wish();
      steps.push_back({.task = tree.task,
                       .rows = std::move(tree.rows),
                       .wanted = wish.wanted,
                       .top_k = wish.top_k,
                       .outputs = {}});
    }
    reader.Read(steps);
    for (std::size_t i = 0; i < live.size(); ++i) {
      const bool read = steps[i].task->status.ok();
      live[i].rows = read ? live[i].growth->Grow(steps[i].outputs) : std::vector<TreeRow>();
    }
    std::erase_if(live, [](const GrowingTree& tree) { return tree.rows.empty(); });
  }
}

}  // namespace forerun
