#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "experiments/bench/ablation_config.h"
#include "experiments/commands/bench_commands.h"
#include "experiments/config/config_overrides.h"

namespace forerun {
namespace {

struct Options {
  std::string config;
  std::vector<std::string> overrides;
  bool json = false;
};

absl::StatusOr<AblationConfig> LoadAblationConfig(const Options& options) {
  FORERUN_ASSIGN_OR_RETURN(Json json, ReadJsonFile(options.config));
  for (const std::string& override : options.overrides) {
    FORERUN_RETURN_IF_ERROR(ApplyOverride(override, &json));
  }
  absl::StatusOr<AblationConfig> config = ReadAblationConfig(json);
  if (config.ok()) return config;
  return absl::Status(config.status().code(), absl::StrCat(options.config, ": ", config.status().message()));
}

absl::Status RunBenchAblation(const Options& options) {
  FORERUN_ASSIGN_OR_RETURN(AblationConfig config, LoadAblationConfig(options));
  EngineConfig engine;
  engine.threads = config.threads;
  engine.numerics = config.plan.numerics[0];
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Create(engine));
  Roofline roofline(machine->kernels().isa, machine->threads());
  Json reports = Json::array();
  for (const std::string& model : config.models) {
    config.plan.model = model;
    FORERUN_ASSIGN_OR_RETURN(const SpeedReport report, MeasureSpeed(*machine, roofline, config.plan));
    if (options.json) {
      reports.push_back(SpeedJson(report));
      continue;
    }
    std::printf("%s\n%s\n", SpeedHead(report).c_str(), SettingsTable(report).c_str());
    std::fflush(stdout);
  }
  if (options.json) std::printf("%s\n", DumpJson(reports).c_str());
  return absl::OkStatus();
}

}  // namespace

Command AddBenchAblationCommand(CLI::App& bench) {
  CLI::App* command =
      bench.add_subcommand("ablation", "What each fusion of a layer's operations is worth, model by model");
  auto options = std::make_shared<Options>();
  command->add_option("CONFIG", options->config, "See experiments/config/config.md")->required();
  command->add_option("--set", options->overrides, "path=value, before the config is read; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "A JSON list, one object a model, every sample in it");
  command->footer(
      "Ratios are to the first setting, of the same run.\n\nExample:\n"
      "  forerun bench ablation experiments/configs/fusion_ablation.json --set rows=[1]");
  return {command, [options] { return RunBenchAblation(*options); }};
}

}  // namespace forerun
