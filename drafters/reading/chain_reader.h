// A model that reads along with a chain: keys and values of a prefix of the text so far (what was committed,
// then what was drafted), rolled back to what still holds and brought up to date by the very forward that
// asks for the next token.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/engine/drafter.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"
#include "drafters/reading/read_prefix.h"
#include "drafters/reading/shortlist_file.h"

namespace forerun {

// Which layers read one sequence's chains; asked once for each sequence.
using LayerChoice = std::function<absl::StatusOr<std::shared_ptr<const LayerSubset>>(const DraftTask&)>;

// Committed tokens, then the drafted ones of a chain.
std::vector<TokenId> TextOf(const DraftTask& task);

// One sequence's part of a forward.
struct ReadStep {
  DraftTask* task = nullptr;
  std::vector<TokenId> guesses;  // read after the text, for what would come after them
  WantedOutput wanted = WantedOutput::kArgmax;
  // Out, where the task's status is good: after the text, and after each guess.
  std::vector<RowOutput> outputs;  // [1 + guesses]
};

class ChainReader {
 public:
  // `model` and `pool` outlive the reader. `shortlist`: null for the whole vocabulary.
  ChainReader(Model& model, KvPool& pool, std::shared_ptr<const Shortlist> shortlist)
      : model_(model), pool_(pool), shortlist_(std::move(shortlist)) {}

  std::unique_ptr<DrafterState> Open() const;
  // For self-drafting, where the model is the target: the sequence's chain is read on a fork of the target's
  // own pages, by the chosen layers, until Return() drops the fork.
  void Borrow(DraftTask& task, const LayerChoice& choose_layers) const;
  void Return(DraftTask& task) const;
  // False where the model's context ends before the task's budget could be read.
  bool HasRoom(const DraftTask& task) const;
  // Reads what was committed but for the root, as far as the model's context goes.
  void CatchUp(DraftTask& task) const;
  // One forward over all steps that the same layers read, after forwards of their own for texts that lag far
  // behind. What goes wrong is the status of the tasks that it concerns.
  void Read(std::span<ReadStep> steps) const;

  // What a table has to say of it: "shortlist 32768 of 151936"; empty without one.
  std::string Note() const { return ShortlistNote(shortlist_.get()); }

 private:
  void ReadTogether(std::span<ReadStep* const> steps, const LayerSubset* layers) const;

  Model& model_;
  KvPool& pool_;
  std::shared_ptr<const Shortlist> shortlist_;
};

}  // namespace forerun
