// A recurrent head that reads along: keys and values of the committed rows made from the target's own states,
// and behind them, for the length of a round, the rows that are being drafted.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/drafter.h"
#include "core/kv/kv_pool.h"
#include "drafters/heads/recurrent_head.h"
#include "drafters/trees/tree_reader.h"

namespace forerun {

class RecurrentReader {
 public:
  // `pool` outlives the reader; `layout_id` is the head's layout there. Positions stay below
  // `context_length`.
  RecurrentReader(std::unique_ptr<RecurrentHead> head, KvPool& pool, int layout_id, int context_length)
      : head_(std::move(head)), pool_(pool), layout_id_(layout_id), context_length_(context_length) {}

  const RecurrentHead& head() const { return *head_; }
  std::unique_ptr<DrafterState> Open() const;
  // Rolls back to what still holds of the task's text. False where the target's states for the rows up to the
  // root are not there, so that the head has nothing to say.
  bool Follows(const DraftTask& task) const;
  // How many drafted tokens a path may have before the context ends.
  int DepthLeft(const DraftTask& task) const {
    return std::max(0, context_length_ - static_cast<int>(task.committed.size()));
  }
  // Reads the rows whose states have come; nothing where some before them are missing.
  void CatchUp(DraftTask& task);
  // One forward over all steps; a first step reads the root after all rows that are new, and its task is one
  // that the reader follows. What goes wrong is the status of the tasks that it concerns.
  void Read(std::span<TreeStep> steps);

 private:
  struct State;
  static State& StateOf(const DraftTask& task);
  bool RollBack(const DraftTask& task) const;
  bool Place(TreeStep& step, ForwardBatch& batch, std::vector<float>& features) const;
  void Keep(const TreeStep& step, std::span<const float> features) const;

  std::unique_ptr<RecurrentHead> head_;
  KvPool& pool_;
  int layout_id_;
  int context_length_;
};

}  // namespace forerun
