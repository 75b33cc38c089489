// One step of the engine, in the order of its methods: each makes what the next one reads.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "core/engine/engine.h"
#include "core/engine/sequence.h"
#include "core/model/forward_batch.h"
#include "core/tree/token_tree.h"

namespace forerun {

class EngineStep {
 public:
  EngineStep(Model& target, const EngineOptions& options) : target_(target), options_(options) {}

  // Which sequences verify, with how many nodes, and which prefill, with how many rows. Verification comes
  // first: every verifying sequence gets its root, then nodes as rows allow, then prefill chunks take what is
  // left.
  void Plan(const std::vector<std::unique_ptr<Sequence>>& active);
  // Asks the drafters for trees, and lets them catch up with prompts that are being prefilled.
  absl::Status Propose();
  // Reserves slots and lays out the rows; a sequence that finds no room fails.
  void Place();
  absl::Status Forward();
  // Applies each rule, commits what stands and returns the records.
  void VerifyAndCommit(StepResult& result);

 private:
  struct Work {
    Sequence* sequence = nullptr;
    int prefill_rows = 0;  // > 0: this sequence prefills
    int budget = 0;
    TokenTree tree{0};
    int first_row = 0;
    int rows = 0;

    bool verifies() const { return prefill_rows == 0; }
  };

  void PlanVerifying(const std::vector<std::unique_ptr<Sequence>>& active, int& rows_left);
  void PlanPrefilling(const std::vector<std::unique_ptr<Sequence>>& active, int& rows_left);
  static bool Asked(const Work& work);
  void PlaceWork(Work& work);
  TappedRows StatesOf(const Work& work) const;
  void Verify(Work& work, StepResult& result);
  double Lap();  // seconds since the last lap

  Model& target_;
  const EngineOptions& options_;
  std::vector<Work> work_;
  ForwardBatch batch_;
  ForwardResult outputs_;
  std::chrono::steady_clock::time_point lap_ = std::chrono::steady_clock::now();
  double draft_seconds_ = 0, forward_seconds_ = 0, other_seconds_ = 0;
};

}  // namespace forerun
