#include <cstdio>
#include <memory>

#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "experiments/base/token_ids.h"
#include "experiments/bench/speed.h"
#include "experiments/commands/bench_commands.h"
#include "experiments/commands/bench_serve.h"
#include "experiments/commands/checks.h"

namespace forerun {
namespace {

struct Options {
  SpeedPlan plan;
  std::vector<std::string> fusions = {"all"};
  std::string ids_file;
  bool full_logits = false;
  bool json = false;
  bool serve = false;
  EngineConfig engine;
};

absl::Status ReadFusions(const std::vector<std::string>& names, SpeedPlan& plan) {
  plan.fusions.clear();
  for (const std::string& name : names) {
    if (name == "each") {
      plan.fusions.insert(plan.fusions.end(), FusionSettings().begin(), FusionSettings().end());
      continue;
    }
    FORERUN_ASSIGN_OR_RETURN(NamedFusion setting, FindFusion(name));
    plan.fusions.push_back(std::move(setting));
  }
  return absl::OkStatus();
}

absl::Status RunBenchModel(Options options) {
  SpeedPlan& plan = options.plan;
  if (options.full_logits) plan.bench.wanted = WantedOutput::kFull;
  FORERUN_RETURN_IF_ERROR(ReadFusions(options.fusions, plan));
  if (!options.ids_file.empty()) {
    FORERUN_ASSIGN_OR_RETURN(const Json ids, ReadJsonFile(options.ids_file));
    FORERUN_ASSIGN_OR_RETURN(plan.ids, ReadTokenIds(ids, "ids"));
  }
  options.engine.numerics = plan.numerics[0];
  options.engine.fusion = plan.fusions[0].fusion;
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Create(options.engine));
  if (options.serve) return ServeBench(*machine, plan.model, plan.bench, plan.contexts[0]);
  Roofline roofline(machine->kernels().isa, machine->threads());
  FORERUN_ASSIGN_OR_RETURN(const SpeedReport report, MeasureSpeed(*machine, roofline, plan));
  std::printf("%s", options.json ? (DumpJson(SpeedJson(report)) + "\n").c_str() : SpeedText(report).c_str());
  return absl::OkStatus();
}

void AddWhatToMeasure(CLI::App* command, Options& options) {
  SpeedPlan& plan = options.plan;
  command->add_option("--rows", plan.rows, "Rows of a timed forward: a list like 1,2,4")
      ->delimiter(',')
      ->check(IntegerFrom(1, kMostRows))
      ->capture_default_str();
  command->add_option("--repeat", plan.repeat, "Rounds over all settings; the best and the median count")
      ->check(IntegerFrom(1, 1000))
      ->capture_default_str();
  command->add_option("--numerics", plan.numerics, "A list of a8, f32")
      ->delimiter(',')
      ->check(CLI::IsMember({"a8", "f32"}))
      ->capture_default_str();
  command
      ->add_option("--fusion", options.fusions,
                   "A list of all, no_qkv, no_attention, no_ffn, no_residual, none; each: all of these")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--context", plan.contexts, "Tokens before the rows: a list like 0,2048,16384")
      ->delimiter(',')
      ->check(IntegerFrom(0, kMostContext))
      ->capture_default_str();
  command->add_option("--prefill", plan.prefill, "Tokens of the prompt to time; 0: none")
      ->check(IntegerFrom(0, kMostContext))
      ->capture_default_str();
  command->add_option("--prefill-chunk", plan.bench.prefill_chunk, "Rows of one of its forwards")
      ->check(IntegerFrom(1, kMostRows))
      ->capture_default_str();
  command->add_option("--ids-file", options.ids_file, "A JSON list of ids to score, not the sample text");
  command->add_flag("--full-logits", options.full_logits, "All logits of every row, not its argmax alone");
}

void AddMachineOptions(CLI::App* command, Options& options) {
  command->add_option("--isa", options.engine.isa, "Instructions: reference, avx2, avx512, avx512vnni")
      ->check(CLI::IsMember({"reference", "avx2", "avx512", "avx512vnni"}));
  command->add_option("--threads", options.engine.threads, "0: all cores")
      ->check(IntegerFrom(0, kMostThreads));
  command->add_option("--kv-budget-mib", options.engine.kv_budget_mib, "Memory for keys and values")
      ->check(IntegerFrom(4, kMostMib))
      ->capture_default_str();
}

}  // namespace

Command AddBenchModelCommand(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand(
      "model", "Time a model's forwards, n rows t(n) and prefill, beside what the machine allows");
  auto options = std::make_shared<Options>();
  options->plan.bench.prefill_chunk = options->engine.prefill_chunk;
  options->engine.kv_budget_mib = 2048;  // only what the contexts fill becomes resident
  command->add_option("MODEL", options->plan.model, "A path or a name under models/")->required();
  AddWhatToMeasure(command, *options);
  AddMachineOptions(command, *options);
  command->add_flag("--json", options->json, "One JSON object, every sample in it");
  command->add_flag("--serve", options->serve,
                    "Answer requests from standard input, a line each: {\"op\": \"rows\", \"n\", \"repeat\", "
                    "\"context\"}, {\"op\": \"prefill\", \"tokens\"}, {\"op\": \"nll\", \"ids\"}");
  command->footer(
      "Floor: the longer of reading all weights once and of multiplying by them, at the rates measured in "
      "this run.\n\nExample:\n  forerun bench model smollm2-135m-instruct-q4_1 --rows 1,4,8 --fusion "
      "all,none "
      "--context 0,2048");
  return {command, [options] { return RunBenchModel(*options); }};
}

}  // namespace forerun
