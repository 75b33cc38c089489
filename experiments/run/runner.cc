#include "experiments/run/runner.h"

#include <chrono>
#include <map>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "experiments/base/file_hash.h"
#include "experiments/base/interrupt.h"
#include "experiments/base/progress.h"
#include "experiments/run/environment.h"
#include "experiments/run/run_log.h"
#include "experiments/run/schedule.h"

namespace forerun {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Which requests of the schedule have a row already.
class Ledger {
 public:
  Ledger(const PreparedExperiment& experiment, const RunLog& log) : experiment_(experiment), log_(log) {}

  std::string Unit(int prompt, const ScheduledRun& run) const {
    return UnitKey(experiment_.prompts[prompt].prompt.id, experiment_.config.arms[run.arm].name,
                   run.repetition);
  }

  // Prompts of the block that this run still lacks.
  std::vector<int> Missing(const ScheduledBlock& block, const ScheduledRun& run) const {
    std::vector<int> missing;
    for (int prompt = block.first_prompt; prompt < block.first_prompt + block.num_prompts; ++prompt) {
      if (!log_.Done(Unit(prompt, run))) missing.push_back(prompt);
    }
    return missing;
  }

  int NumMissing(const ScheduledBlock& block) const {
    std::size_t missing = 0;
    for (const ScheduledRun& run : block.runs) missing += Missing(block, run).size();
    return static_cast<int>(missing);
  }

  int NumMissing(const std::vector<ScheduledBlock>& blocks) const {
    int missing = 0;
    for (const ScheduledBlock& block : blocks) missing += NumMissing(block);
    return missing;
  }

 private:
  const PreparedExperiment& experiment_;
  const RunLog& log_;
};

class Runner {
 public:
  Runner(const PreparedExperiment& experiment, RunLog& log, const Ledger& ledger, Progress& progress)
      : experiment_(experiment), log_(log), ledger_(ledger), progress_(progress) {}

  absl::Status RunBlock(const ScheduledBlock& block) {
    for (const ScheduledRun& run : block.runs) {
      const std::vector<int> missing = ledger_.Missing(block, run);
      if (!missing.empty()) FORERUN_RETURN_IF_ERROR(RunTogether(missing, run));
      if (Interrupted()) return absl::OkStatus();
    }
    return absl::OkStatus();
  }

 private:
  // One arm over some prompts in one batch.
  absl::Status RunTogether(const std::vector<int>& prompts, const ScheduledRun& run) {
    const EngineOptions options = {.max_sequences = experiment_.config.concurrency,
                                   .prefill_chunk = experiment_.config.engine.prefill_chunk};
    Engine engine(*experiment_.models.target.model, experiment_.machine->pool(), options);
    std::map<uint64_t, int> prompt_of;  // by request id
    for (const int prompt : prompts) {
      Request request = experiment_.MakeRequest(prompt, run.arm);
      prompt_of[request.id] = prompt;
      FORERUN_RETURN_IF_ERROR(engine.Add(std::move(request)));
    }
    std::map<uint64_t, std::vector<RoundRecord>> rounds;
    while (!engine.idle()) {
      FORERUN_ASSIGN_OR_RETURN(StepResult step, engine.Step());
      for (RoundRecord& round : step.rounds) rounds[round.request].push_back(std::move(round));
      for (const RequestResult& result : step.finished) {
        FORERUN_RETURN_IF_ERROR(Log(prompt_of[result.id], run, result, rounds[result.id]));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Log(int prompt, const ScheduledRun& run, const RequestResult& result,
                   const std::vector<RoundRecord>& rounds) {
    const PreparedPrompt& prepared = experiment_.prompts[prompt];
    RequestRow row;
    row.unit = ledger_.Unit(prompt, run);
    row.arm = experiment_.config.arms[run.arm].name;
    row.prompt = prepared.prompt.id;
    row.category = prepared.prompt.category;
    row.repetition = run.repetition;
    row.baseline_before = run.baseline_before;
    row.baseline_after = run.baseline_after;
    row.prompt_tokens = static_cast<int64_t>(prepared.tokens.size());
    row.output = result.output;
    row.text = experiment_.models.target.tokenizer->Decode(result.output);
    row.finish_reason = FinishReasonName(result.reason);
    row.rounds = static_cast<int>(rounds.size());
    row.drafted = result.drafted;
    row.accepted = result.accepted;
    row.prefill_seconds = result.prefill_seconds;
    row.decode_seconds = result.decode_seconds;
    row.peak_rss_bytes = PeakRssBytes();
    const Drafter* drafter = experiment_.arms[run.arm].drafter.get();
    row.drafter_state = drafter != nullptr && drafter->learns() ? "learning" : "cold";
    if (drafter != nullptr) row.drafter_note = drafter->note();
    if (!result.status.ok()) row.error = std::string(result.status.message());
    FORERUN_RETURN_IF_ERROR(log_.Append(row, rounds));
    progress_.Advance(row.arm, row.emitted(), row.decode_seconds);
    return absl::OkStatus();
  }

  const PreparedExperiment& experiment_;
  RunLog& log_;
  const Ledger& ledger_;
  Progress& progress_;
};

// How many requests the schedule has.
int CountUnits(const std::vector<ScheduledBlock>& blocks) {
  int units = 0;
  for (const ScheduledBlock& block : blocks) units += block.num_prompts * static_cast<int>(block.runs.size());
  return units;
}

// Whether a block like those before would end after the budget. The first one always fits: a run must get on.
bool WouldExceed(double budget_minutes, double seconds_so_far, int blocks_so_far) {
  if (budget_minutes <= 0 || blocks_so_far == 0) return false;
  return seconds_so_far + seconds_so_far / blocks_so_far > budget_minutes * 60;
}

}  // namespace

absl::StatusOr<RunOutcome> RunExperiment(const PreparedExperiment& experiment, const RunOptions& options) {
  const ExperimentConfig& config = experiment.config;
  const std::vector<ScheduledBlock> blocks =
      MakeSchedule(static_cast<int>(experiment.prompts.size()), static_cast<int>(config.arms.size()),
                   config.baseline, config.bracket, config.concurrency);
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<RunLog> log,
                           RunLog::Open(options.directory, ResolvedConfig(config), options.resume));
  const Ledger ledger(experiment, *log);
  RunOutcome outcome;
  outcome.total = CountUnits(blocks);
  outcome.done = outcome.total - ledger.NumMissing(blocks);
  outcome.errors = log->errors();
  if (outcome.done == outcome.total) return outcome;
  FORERUN_ASSIGN_OR_RETURN(
      Json environment, DescribeEnvironment(*experiment.machine, experiment.models, experiment.prompt_file));
  environment["requests_planned"] = outcome.total;
  for (std::size_t i = 0; i < experiment.arms.size(); ++i) {
    for (const auto& [option, file] : experiment.arms[i].drafter_files) {
      FORERUN_ASSIGN_OR_RETURN(environment["inputs"][option + "_sha256"][config.arms[i].name],
                               CachedSha256OfFile(file));
    }
  }
  FORERUN_RETURN_IF_ERROR(log->BeginSession(environment));

  Progress progress(outcome.done, outcome.total);
  Runner runner(experiment, *log, ledger, progress);
  const Clock::time_point start = Clock::now();
  int blocks_run = 0;
  for (const ScheduledBlock& block : blocks) {
    if (ledger.NumMissing(block) == 0) continue;
    if (WouldExceed(options.budget_minutes, SecondsSince(start), blocks_run))
      outcome.end = RunEnd::kBudgetSpent;
    if (Interrupted()) outcome.end = RunEnd::kInterrupted;
    if (outcome.end != RunEnd::kComplete) break;
    FORERUN_RETURN_IF_ERROR(runner.RunBlock(block));
    ++blocks_run;
  }
  progress.Finish();
  outcome.errors = log->errors();
  outcome.done = outcome.total - ledger.NumMissing(blocks);
  if (outcome.done < outcome.total && outcome.end == RunEnd::kComplete) outcome.end = RunEnd::kInterrupted;
  return outcome;
}

}  // namespace forerun
