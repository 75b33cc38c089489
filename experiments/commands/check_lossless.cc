#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"
#include "drafters/registry.h"
#include "experiments/commands/check_commands.h"
#include "experiments/commands/checks.h"
#include "experiments/lossless/model.h"
#include "experiments/lossless/report.h"
#include "experiments/lossless/sampled.h"

namespace forerun {
namespace {

struct Options {
  std::string rule, drafter, model, draft;
  int tables = 3;
  std::vector<std::string> heads;
  int texts = 20000, model_texts = 1000;
  uint64_t seed = SampledPlan().seed;
  bool exact_only = false;
  bool json = false;
};

// Each "drafter=folder".
absl::StatusOr<HeadsOf> ReadHeads(const std::vector<std::string>& options) {
  HeadsOf heads;
  for (const std::string& option : options) {
    const std::vector<std::string> parts = absl::StrSplit(option, absl::MaxSplits('=', 1));
    const auto is = [&](const DrafterInfo& info) {
      return info.needs == DrafterNeeds::kHeads && info.key == parts[0];
    };
    const bool known = std::any_of(ListDrafters().begin(), ListDrafters().end(), is);
    if (!known || parts.size() != 2 || !heads.emplace(parts[0], parts[1]).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--heads ", option, ": expected eagle=FOLDER or the like, once a drafter with heads"));
    }
  }
  return heads;
}

// What only a model can be tried with.
absl::Status CheckTablesSuffice(const std::string& drafter) {
  for (const DrafterInfo& info : ListDrafters()) {
    if (drafter != info.key || !info.needs_files()) continue;
    return absl::InvalidArgumentError(absl::StrCat("--drafter ", drafter, ": needs ", NeedsText(info.needs),
                                                   ", and tables have none: name a model with --model"));
  }
  return absl::OkStatus();
}

absl::Status CheckLossless(const Options& options) {
  if (!options.draft.empty() && options.model.empty())
    return absl::InvalidArgumentError(absl::StrCat("--draft ", options.draft, ": needs --model"));
  if (!options.heads.empty() && options.model.empty())
    return absl::InvalidArgumentError(absl::StrCat("--heads ", options.heads[0], ": needs --model"));
  if (options.model.empty()) FORERUN_RETURN_IF_ERROR(CheckTablesSuffice(options.drafter));
  FORERUN_ASSIGN_OR_RETURN(const HeadsOf heads, ReadHeads(options.heads));
  if (options.exact_only && (!options.model.empty() || !options.drafter.empty()))
    return absl::InvalidArgumentError("--exact-only: no drafter is run, so neither --drafter nor --model");
  LosslessReport report;
  report.exact = RunExactLaws(options.rule, options.tables);
  report.controls = RunControls();
  if (!options.exact_only) {
    FORERUN_ASSIGN_OR_RETURN(report.sampled, RunSampledLaws({.rule = options.rule,
                                                             .drafter = options.drafter,
                                                             .texts = options.texts,
                                                             .seed = options.seed}));
  }
  if (!options.model.empty()) {
    FORERUN_ASSIGN_OR_RETURN(report.greedy, RunGreedyTexts({.target = options.model,
                                                            .draft = options.draft,
                                                            .rule = options.rule,
                                                            .drafter = options.drafter,
                                                            .heads = heads}));
    FORERUN_ASSIGN_OR_RETURN(report.model, RunModelLaws({.target = options.model,
                                                         .draft = options.draft,
                                                         .rule = options.rule,
                                                         .drafter = options.drafter,
                                                         .heads = heads,
                                                         .texts = options.model_texts,
                                                         .seed = options.seed}));
  }
  report.Judge();
  std::fputs(options.json ? (DumpJson(LosslessJson(report)) + "\n").c_str() : LosslessText(report).c_str(),
             stdout);
  if (report.failures() == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("check lossless: ", report.failures(), " of ", report.checks(), " checks failed"));
}

std::vector<std::string> RuleNames() {
  std::vector<std::string> names;
  for (const RuleInfo& info : ListRules()) names.emplace_back(info.name);
  return names;
}

std::vector<std::string> DrafterNames() {
  std::vector<std::string> names;
  for (const DrafterInfo& info : ListDrafters()) names.emplace_back(info.key);
  return names;
}

}  // namespace

Command AddCheckLosslessCommand(CLI::App& check) {
  CLI::App* command = check.add_subcommand(
      "lossless",
      "Prove that rules keep the target's law: exactly on small tables, by counting through the engine, and "
      "to the token on a model");
  auto options = std::make_shared<Options>();
  command->add_option("--rule", options->rule, "One rule only")->check(CLI::IsMember(RuleNames()));
  command->add_option("--drafter", options->drafter, "One drafter only")
      ->check(CLI::IsMember(DrafterNames()));
  command->add_option(
      "--model", options->model,
      "Also on this model, a path or a name under models/: texts at temperature 0, counts at 1");
  command->add_option("--draft", options->draft, "A smaller model for drafters that need one");
  command->add_option("--heads", options->heads,
                      "DRAFTER=FOLDER: heads trained for the model, for a drafter that needs some");
  command->add_option("--seed", options->seed, "Of the texts that are counted")->capture_default_str();
  command->add_option("--tables", options->tables, "Pairs of tables for each exact case")
      ->check(IntegerFrom(1, 1000))
      ->capture_default_str();
  command->add_option("--texts", options->texts, "Texts of each count")
      ->check(IntegerFrom(5000, 10000000))
      ->capture_default_str();
  command->add_option("--model-texts", options->model_texts, "Texts of each count on the model")
      ->check(IntegerFrom(100, 10000000))
      ->capture_default_str();
  command->add_flag("--exact-only", options->exact_only, "Small tables only: neither counting nor models");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example:\n  forerun check lossless --model smollm2-135m-instruct-q4_1");
  return {command, [options] { return CheckLossless(*options); }};
}

}  // namespace forerun
