// A model that reads a tree while it is being drafted: the committed text as a prefix of its keys and values,
// the tree's rows behind it. The rows of the path that was accepted are kept in the next round, the others
// make room.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/engine/drafter.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"
#include "drafters/reading/shortlist_file.h"

namespace forerun {

// A drafted token to be read.
struct TreeRow {
  TokenId token = 0;
  int parent = -1;  // which of the round's rows, counted over all its steps, it follows; -1: the root
};

// One sequence's part of a forward.
struct TreeStep {
  DraftTask* task = nullptr;
  std::vector<TreeRow>
      rows;  // none, in the first step of a round: the root, after what is unread of the text
  WantedOutput wanted = WantedOutput::kArgmax;
  int top_k = 0;
  // Out, where the task's status is good: of each row, or of the root.
  std::vector<RowOutput> outputs;
};

class TreeReader {
 public:
  // `model` and `pool` outlive the reader. `shortlist`: null for the whole vocabulary.
  TreeReader(Model& model, KvPool& pool, std::shared_ptr<const Shortlist> shortlist)
      : model_(model), pool_(pool), shortlist_(std::move(shortlist)) {}

  std::unique_ptr<DrafterState> Open() const;
  // How many drafted tokens a path may have before the model's context ends.
  int DepthLeft(const DraftTask& task) const {
    return std::max(0, model_.context_length() - static_cast<int>(task.committed.size()));
  }
  // Reads what was committed but for the root, as far as the model's context goes.
  void CatchUp(DraftTask& task) const;
  // One forward over all steps, after forwards of their own for texts that lag far behind. What goes wrong is
  // the status of the tasks that it concerns.
  void Read(std::span<TreeStep> steps) const;

  std::string Note() const { return ShortlistNote(shortlist_.get()); }

 private:
  bool Place(const TreeStep& step, ForwardBatch& batch) const;

  Model& model_;
  KvPool& pool_;
  std::shared_ptr<const Shortlist> shortlist_;
};

}  // namespace forerun
