#include <memory>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "experiments/bench/kernel_bench.h"
#include "experiments/commands/bench_commands.h"
#include "experiments/commands/checks.h"
#include "experiments/run/machine.h"

namespace forerun {
namespace {

struct Options {
  std::string filter = ".";
  bool json = false;
  EngineConfig engine;
};

absl::Status RunBenchKernels(const Options& options) {
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Create(options.engine));
  Roofline roofline(machine->kernels().isa, machine->threads());
  const KernelBench bench{machine->kernels(), machine->threads(), roofline};
  RegisterMatmulBenchmarks(bench);
  RegisterAttentionBenchmarks(bench);
  RegisterRowBenchmarks(bench);
  if (RunKernelBenchmarks(options.filter, options.json)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--filter: no benchmark's name matches \"", options.filter, "\""));
}

}  // namespace

Command AddBenchKernelsCommand(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand("kernels", "Time every kernel by itself (Google Benchmark)");
  auto options = std::make_shared<Options>();
  command->add_option("--filter", options->filter, "A regular expression that a benchmark's name must match")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Google Benchmark's JSON");
  command->add_option("--isa", options->engine.isa, "Instructions: reference, avx2, avx512, avx512vnni")
      ->check(CLI::IsMember({"reference", "avx2", "avx512", "avx512vnni"}));
  command->add_option("--threads", options->engine.threads, "0: all cores")
      ->check(IntegerFrom(0, kMostThreads));
  command->footer("Example:\n  forerun bench kernels --filter 'matmul_a8/Q4_K/.*x1536/'");
  return {command, [options] { return RunBenchKernels(*options); }};
}

}  // namespace forerun
