#include "core/engine/engine_step.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/engine/target_rows.h"

namespace forerun {

double EngineStep::Lap() {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - lap_).count();
  lap_ = now;
  return seconds;
}

void EngineStep::Plan(const std::vector<std::unique_ptr<Sequence>>& active) {
  int rows_left = options_.max_batch_rows;
  PlanVerifying(active, rows_left);
  PlanPrefilling(active, rows_left);
}

void EngineStep::PlanVerifying(const std::vector<std::unique_ptr<Sequence>>& active, int& rows_left) {
  for (const auto& sequence : active) {
    if (sequence->prefill_left() == 0 && rows_left > 0) {
      work_.push_back({.sequence = sequence.get(), .tree = TokenTree(sequence->tokens().back())});
      --rows_left;
    }
  }
  int sharing = static_cast<int>(work_.size());
  for (Work& work : work_) {  // each takes at most an equal share of what the ones before it left
    work.budget =
        work.sequence->speculates() ? std::clamp(work.sequence->budget(), 0, rows_left / sharing) : 0;
    rows_left -= work.budget;
    --sharing;
  }
}

void EngineStep::PlanPrefilling(const std::vector<std::unique_ptr<Sequence>>& active, int& rows_left) {
  for (const auto& sequence : active) {
    const int rows = std::min({sequence->prefill_left(), options_.prefill_chunk, rows_left});
    if (rows > 0) {
      work_.push_back({.sequence = sequence.get(), .prefill_rows = rows});
      rows_left -= rows;
    }
  }
}

// Drafters are asked for a tree, to catch up with a prompt, or to look at what came of the last forward.
bool EngineStep::Asked(const Work& work) {
  const Request& request = work.sequence->request();
  return work.sequence->speculates() &&
         (work.budget > 0 || !work.verifies() || request.drafter->evidence_top_k() > 0 ||
          !request.drafter->taps().empty());
}

absl::Status EngineStep::Propose() {
  other_seconds_ += Lap();
  std::vector<Drafter*> drafters;
  for (const Work& work : work_) {
    Drafter* drafter = work.sequence->request().drafter;
    if (Asked(work) && std::find(drafters.begin(), drafters.end(), drafter) == drafters.end())
      drafters.push_back(drafter);
  }
  for (Drafter* drafter : drafters) {
    std::vector<DraftTask> tasks;
    std::vector<Work*> owners;
    for (Work& work : work_) {
      Sequence& sequence = *work.sequence;
      if (sequence.request().drafter != drafter || !Asked(work)) continue;
      const std::size_t known = work.verifies() ? sequence.tokens().size()
                                                : work.sequence->table().committed() + work.prefill_rows + 1;
      tasks.push_back({.state = sequence.drafter_state.get(),
                       .committed = sequence.tokens().first(known),
                       .prompt_length = static_cast<int>(std::min(known, sequence.request().prompt.size())),
                       .sampling = &sequence.request().sampling,
                       .request = sequence.request().id,
                       .budget = work.budget,
                       .max_depth = work.budget > 0 ? sequence.max_depth() : 0,
                       .prediction = sequence.request().prediction,
                       .evidence = work.verifies() ? sequence.evidence() : std::span<const EvidenceRow>(),
                       .target_table = work.verifies() ? &sequence.table() : nullptr,
                       .features = sequence.features(),
                       .tree = &work.tree,
                       .status = absl::OkStatus()});
      owners.push_back(&work);
    }
    FORERUN_RETURN_IF_ERROR(drafter->Propose(tasks));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      owners[i]->sequence->ClearFeatures();
      FORERUN_CHECK(tasks[i].tree->num_drafted() <= tasks[i].budget);
      FORERUN_CHECK(tasks[i].tree->max_depth() <= tasks[i].max_depth);
      if (!tasks[i].status.ok()) owners[i]->sequence->Fail(tasks[i].status);
    }
  }
  draft_seconds_ += Lap();
  return absl::OkStatus();
}

void EngineStep::Place() {
  for (Work& work : work_) {
    if (!work.sequence->finished()) PlaceWork(work);
  }
  std::erase_if(work_, [](const Work& work) { return work.sequence->finished(); });
}

void EngineStep::PlaceWork(Work& work) {
  Sequence& sequence = *work.sequence;
  work.rows = work.verifies() ? work.tree.size() : work.prefill_rows;
  if (absl::Status reserved = sequence.table().Reserve(work.rows); !reserved.ok()) {
    sequence.Fail(std::move(reserved));
    return;
  }
  work.first_row = static_cast<int>(batch_.rows.size());
  const bool causal = !work.verifies() || work.tree.is_chain();
  batch_.segments.push_back({&sequence.table(), work.first_row, work.rows, causal});
  const Request& request = sequence.request();
  const bool argmax_will_do = request.sampling.plain_argmax() && !request.want_log_probs &&
                              !(work.verifies() && request.verifier->reads_unwarped());
  const int top_k = sequence.evidence_top_k();
  const std::vector<int> taps = sequence.taps();
  for (const int tap : taps) {
    if (std::find(batch_.taps.begin(), batch_.taps.end(), tap) == batch_.taps.end())
      batch_.taps.push_back(tap);
  }
  for (int i = 0; i < work.rows; ++i) {
    ForwardRow row{.tapped = !taps.empty()};
    if (work.verifies()) {
      row.token = work.tree.node(i).token;
      row.parent = work.tree.node(i).parent;
      row.wanted = !argmax_will_do ? WantedOutput::kFull
                   : top_k > 0     ? WantedOutput::kTopK
                                   : WantedOutput::kArgmax;
      row.top_k = top_k;
    } else {
      row.token = sequence.tokens()[sequence.table().committed() + i];
      row.parent = i - 1;
    }
    batch_.rows.push_back(row);
  }
}

absl::Status EngineStep::Forward() {
  other_seconds_ += Lap();
  FORERUN_ASSIGN_OR_RETURN(outputs_, target_.Forward(batch_));
  forward_seconds_ += Lap();
  return absl::OkStatus();
}

void EngineStep::VerifyAndCommit(StepResult& result) {
  const double before_verify = draft_seconds_ + forward_seconds_ + other_seconds_;
  for (Work& work : work_) {
    if (work.verifies()) {
      Verify(work, result);
    } else {
      work.sequence->CommitPrefill(StatesOf(work));
      work.sequence->AddPrefillSeconds(before_verify * work.rows / batch_.rows.size());
      result.prefill_rows += work.rows;
    }
  }
}

TappedRows EngineStep::StatesOf(const Work& work) const {
  const std::vector<int> taps = work.sequence->taps();
  return taps.empty() ? TappedRows() : TappedRows(batch_, outputs_, taps, work.first_row);
}

void EngineStep::Verify(Work& work, StepResult& result) {
  Sequence& sequence = *work.sequence;
  const Request& request = sequence.request();
  const double share = static_cast<double>(work.rows) / batch_.rows.size();
  RoundRecord record;
  record.request = request.id;
  record.round = sequence.rounds();
  record.committed = static_cast<int>(sequence.tokens().size());
  record.budget = work.budget;
  record.drafted = work.tree.num_drafted();
  record.max_depth = work.tree.max_depth();
  record.length_limited = sequence.speculates() && sequence.length_limits(work.tree);
  record.draft_seconds = draft_seconds_ * share;
  record.verify_seconds = forward_seconds_ * share;
  record.other_seconds = other_seconds_ * share;
  record.batch_sequences = static_cast<int>(work_.size());
  record.batch_rows = static_cast<int>(batch_.rows.size());

  Lap();
  const std::span<const RowOutput> node_outputs = std::span(outputs_.rows).subspan(work.first_row, work.rows);
  const ForwardTargetRows target(request, sequence.tokens(), work.tree, node_outputs);
  KeyedRandoms randoms(request.sampling.seed, request.id, sequence.tokens().size());
  Verdict verdict = request.verifier->Verify(work.tree, target, randoms);
  record.sample_seconds = Lap();
  record.examined = std::move(verdict.examined);
  sequence.Apply(work.tree, verdict, node_outputs, StatesOf(work), record);
  record.other_seconds += Lap();
  sequence.AddDecodeSeconds(record.seconds());
  result.rounds.push_back(std::move(record));
}

}  // namespace forerun
