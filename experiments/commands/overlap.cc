#include "experiments/texts/overlap.h"

#include <cstdio>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "experiments/base/progress.h"
#include "experiments/base/table.h"
#include "experiments/commands/commands.h"
#include "experiments/report/bootstrap.h"
#include "experiments/report/compare.h"
#include "experiments/run/prepared_experiment.h"

namespace forerun {
namespace {

struct Options {
  std::string run;
  bool json = false;
};

// One term a prompt: sums over its tokens, and how many there are.
struct CategoryTerms {
  std::vector<RatioTerm> overlap, entropy, agreement;
  int64_t tokens = 0;

  void Add(const TextOverlap& text) {
    const auto count = static_cast<double>(text.tokens);
    overlap.push_back({text.overlap, count});
    entropy.push_back({text.entropy, count});
    agreement.push_back({text.agreement, count});
    tokens += text.tokens;
  }
};

// The first request of the baseline for each prompt: the target's own text.
std::vector<const RequestRow*> TargetTexts(const LoadedRun& run) {
  std::vector<const RequestRow*> rows;
  for (const LoggedRequest& request : run.records.requests) {
    const RequestRow& row = request.row;
    const bool baseline = row.arm == run.config.arms[run.config.baseline].name && row.repetition == 0;
    if (baseline && row.error.empty() && !row.output.empty()) rows.push_back(&row);
  }
  return rows;
}

absl::StatusOr<std::map<std::string, CategoryTerms>> Measure(const LoadedRun& run,
                                                             std::vector<std::string>* order) {
  if (run.config.draft.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(run.directory, ": expected a run with a draft model, found none in its config"));
  }
  FORERUN_ASSIGN_OR_RETURN(const PreparedExperiment experiment, PrepareExperiment(run.config, 0));
  std::map<std::string, const PreparedPrompt*> prompts;
  for (const PreparedPrompt& prompt : experiment.prompts) prompts[prompt.prompt.id] = &prompt;
  const std::vector<const RequestRow*> rows = TargetTexts(run);
  ShareProgress progress("texts");
  double done = 0;
  std::map<std::string, CategoryTerms> terms;
  for (const RequestRow* row : rows) {
    const auto found = prompts.find(row->prompt);
    if (found == prompts.end()) {
      return absl::NotFoundError(absl::StrCat(run.directory, ": prompt \"", row->prompt, "\" is not in ",
                                              experiment.prompt_file, " any more"));
    }
    FORERUN_ASSIGN_OR_RETURN(const TextOverlap text,
                             MeasureOverlap(*experiment.models.target.model, *experiment.models.draft->model,
                                            experiment.machine->pool(), found->second->tokens, row->output));
    if (terms.find(row->category) == terms.end()) order->push_back(row->category);
    terms[row->category].Add(text);
    terms[kAllCategories].Add(text);
    progress.Show(++done / static_cast<double>(rows.size()));
  }
  progress.Finish();
  return terms;
}

std::string Cell(const std::vector<RatioTerm>& terms) {
  const std::optional<Interval> interval = BootstrapRatio(terms);
  std::string text = absl::StrFormat("%.3f", RatioOfSums(terms));
  if (interval) absl::StrAppend(&text, absl::StrFormat(" [%.3f, %.3f]", interval->low, interval->high));
  return text;
}

Json NumberJson(const std::vector<RatioTerm>& terms) {
  const std::optional<Interval> interval = BootstrapRatio(terms);
  Json json;
  json["mean"] = RatioOfSums(terms);
  json["low"] = interval ? Json(interval->low) : Json();
  json["high"] = interval ? Json(interval->high) : Json();
  return json;
}

absl::Status RunOverlap(const Options& options) {
  FORERUN_ASSIGN_OR_RETURN(const LoadedRun run, LoadRun(options.run));
  std::vector<std::string> order = {kAllCategories};
  FORERUN_ASSIGN_OR_RETURN(auto terms, Measure(run, &order));
  if (terms.empty()) return absl::NotFoundError(absl::StrCat(run.directory, ": no text of the baseline yet"));
  Table table;
  table.header = {"category", "sum min(p, q) [95 %]", "H(p) nats", "best tokens agree", "prompts", "tokens"};
  Json json;
  for (const std::string& category : order) {
    const CategoryTerms& of = terms[category];
    table.rows.push_back({category, Cell(of.overlap), Cell(of.entropy), Cell(of.agreement),
                          absl::StrCat(of.overlap.size()), absl::StrCat(of.tokens)});
    json["rows"].push_back({{"category", category},
                            {"overlap", NumberJson(of.overlap)},
                            {"entropy", NumberJson(of.entropy)},
                            {"agreement", NumberJson(of.agreement)},
                            {"prompts", of.overlap.size()},
                            {"tokens", of.tokens}});
  }
  std::fputs(options.json ? (DumpJson(json, 1) + "\n").c_str() : Markdown(table).c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace

Command AddOverlapCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "overlap", "Print how alike target and draft are along the target's own text, by category");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "A run directory; the texts are its baseline's")->required();
  command->add_flag("--json", options->json, "Means with their intervals");
  command->footer(
      "Example:\n  forerun overlap runs/strategies-pair-*\n\n"
      "Distributions at temperature 1, unwarped; intervals: 95 % bootstrap over prompts.");
  return {command, [options] { return RunOverlap(*options); }};
}

}  // namespace forerun
