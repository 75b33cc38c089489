#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>

#include "core/base/status_macros.h"
#include "experiments/commands/commands.h"
#include "experiments/report/comparison_table.h"
#include "experiments/report/typical_times.h"

namespace forerun {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string format = "markdown";
  std::string by = "category";
  std::string against;
  std::string times = "measured";
};

absl::Status Compare(const Options& options) {
  std::vector<ComparisonRow> rows;
  for (const std::string& directory : options.runs) {
    FORERUN_ASSIGN_OR_RETURN(LoadedRun run, LoadRun(directory));
    if (options.times == "typical") FORERUN_RETURN_IF_ERROR(UseTypicalTimes(run.records));
    FORERUN_ASSIGN_OR_RETURN(
        std::vector<ComparisonRow> of_run,
        CompareRun(run, {.by_category = options.by == "category", .against = options.against}));
    std::move(of_run.begin(), of_run.end(), std::back_inserter(rows));
  }
  std::string text;
  if (options.format == "markdown") text = ComparisonMarkdown(rows);
  if (options.format == "markdown" && options.times == "typical")
    text += "times: typical ones, of each round the median of those alike in its run.\n";
  if (options.format == "csv") text = ComparisonCsv(rows);
  if (options.format == "json") text = DumpJson(ComparisonJson(rows), 1) + "\n";
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace

Command AddCompareCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("compare", "Print the table of one or more run directories");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->runs, "Run directories")->required();
  command->add_option("--format", options->format, "markdown, csv or json")
      ->check(CLI::IsMember({"markdown", "csv", "json"}))
      ->capture_default_str();
  command
      ->add_option("--by", options->by, "category: a row for each arm and category; arm: for each arm only")
      ->check(CLI::IsMember({"category", "arm"}))
      ->capture_default_str();
  command->add_option("--against", options->against,
                      "The arm to take for the baseline of speedups; default: the run's own");
  command
      ->add_option(
          "--times", options->times,
          "measured: as on record; typical: of each round the median of those alike in this run, which "
          "a burst of other work on the machine does not move")
      ->check(CLI::IsMember({"measured", "typical"}))
      ->capture_default_str();
  command->footer(
      "Example:\n  forerun compare runs/smoke-* --format csv > smoke.csv\n"
      "  forerun compare runs/strategies-small-* --against suffix --times typical");
  return {command, [options] { return Compare(*options); }};
}

}  // namespace forerun
