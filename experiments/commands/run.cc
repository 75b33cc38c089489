#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "experiments/base/files.h"
#include "experiments/base/interrupt.h"
#include "experiments/commands/checks.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/experiment_options.h"
#include "experiments/report/comparison_table.h"
#include "experiments/report/report.h"
#include "experiments/run/runner.h"

namespace forerun {
namespace {

struct Options : ExperimentOptions {
  RunOptions run;
};

// Writes summary.json and report.md and prints the report.
absl::Status Report(const std::string& directory) {
  FORERUN_ASSIGN_OR_RETURN(const LoadedRun run, LoadRun(directory));
  FORERUN_ASSIGN_OR_RETURN(const std::vector<ComparisonRow> rows, CompareRun(run, {}));
  const std::string report = ReportMarkdown(run, rows);
  const std::string summary = DumpJson(ComparisonJson(rows), 1) + "\n";
  FORERUN_RETURN_IF_ERROR(WriteFileAtomically(directory + "/" + kSummaryFile, summary));
  FORERUN_RETURN_IF_ERROR(WriteFileAtomically(directory + "/" + kReportFile, report));
  std::fputs(report.c_str(), stdout);
  return absl::OkStatus();
}

absl::Status Verdict(const RunOutcome& outcome, const std::string& directory) {
  const std::string progress =
      absl::StrCat(outcome.done, " of ", outcome.total, " requests are in ", directory);
  std::fprintf(stderr, "%s\n", progress.c_str());
  switch (outcome.end) {
    case RunEnd::kInterrupted:
      return absl::CancelledError("interrupted; the same command with --resume continues");
    case RunEnd::kBudgetSpent:
      std::fprintf(stderr, "the budget is spent; the same command with --resume continues\n");
      break;
    case RunEnd::kComplete:
      break;
  }
  if (outcome.errors.empty()) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(outcome.errors.size(), " requests failed; the first: ", outcome.errors[0]));
}

absl::Status Run(const Options& options) {
  FORERUN_ASSIGN_OR_RETURN(const ExperimentConfig config, LoadConfig(options.config, options.overrides));
  FORERUN_ASSIGN_OR_RETURN(const PreparedExperiment experiment, PrepareExperiment(config, options.limit));
  RunOptions run = options.run;
  if (run.directory.empty()) run.directory = DefaultRunDirectory(experiment.config);
  CatchInterrupts();
  FORERUN_ASSIGN_OR_RETURN(const RunOutcome outcome, RunExperiment(experiment, run));
  FORERUN_RETURN_IF_ERROR(Report(run.directory));
  return Verdict(outcome, run.directory);
}

}  // namespace

Command AddRunCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("run", "Run an experiment: every arm of a config over every prompt");
  auto options = std::make_shared<Options>();
  AddExperimentOptions(*command, *options);
  command
      ->add_option("--out", options->run.directory,
                   "The run directory; default runs/<name>-<hash of the config>")
      ->check(NotEmpty());
  command
      ->add_option("--budget", options->run.budget_minutes,
                   "Stop before a prompt that would end after MINUTES")
      ->check(MoreThanZeroUpTo(1e6));
  command->add_flag("--resume", options->run.resume, "Continue a run that was stopped, or start it");
  command->footer(
      "Example:\n  forerun run experiments/configs/smoke.json --set "
      "arms.1.drafter.num_speculative_tokens=8\n\n"
      "Prints the report and leaves everything that it was made from in the run directory.");
  return {command, [options] { return Run(*options); }};
}

}  // namespace forerun
