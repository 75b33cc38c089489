#include <cstdio>
#include <memory>

#include "core/base/status_macros.h"
#include "experiments/commands/commands.h"
#include "experiments/report/comparison_table.h"

namespace forerun {
namespace {

struct Options {
  std::vector<std::string> runs;
  std::string format = "markdown";
  std::string by = "category";
};

absl::Status Compare(const Options& options) {
  std::vector<ComparisonRow> rows;
  for (const std::string& directory : options.runs) {
    FORERUN_ASSIGN_OR_RETURN(const LoadedRun run, LoadRun(directory));
    for (ComparisonRow& row : CompareRun(run, options.by == "category")) rows.push_back(std::move(row));
  }
  std::string text;
  if (options.format == "markdown") text = ComparisonMarkdown(rows);
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
  command->footer("Example:\n  forerun compare runs/smoke-* --format csv > smoke.csv");
  return {command, [options] { return Compare(*options); }};
}

}  // namespace forerun
