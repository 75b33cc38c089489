#include "experiments/run/machine.h"

#include <sys/resource.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "core/base/damage.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

absl::StatusOr<Isa> ChooseIsa(const std::string& name) {
  const Isa widest = DetectIsa();
  if (name.empty()) return widest;
  for (const Isa isa : kAllIsas) {
    if (name != IsaName(isa)) continue;
    if (isa <= widest) return isa;
    return absl::InvalidArgumentError(
        absl::StrCat("engine.isa: this machine has ", IsaName(widest), ", found \"", name, "\""));
  }
  return absl::InvalidArgumentError(absl::StrCat("engine.isa: unknown instructions \"", name, "\""));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Machine>> Machine::Create(const EngineConfig& config) {
  FORERUN_ASSIGN_OR_RETURN(const Isa isa, ChooseIsa(config.isa));
  std::unique_ptr<Machine> machine(new Machine(config, isa));
  machine->threads_ = std::make_unique<ThreadPool>(config.threads);
  const KvPool::Options options = {.budget_bytes = static_cast<std::size_t>(config.kv_budget_mib) << 20};
  FORERUN_ASSIGN_OR_RETURN(machine->pool_, KvPool::Create(options));
  return machine;
}

absl::StatusOr<LoadedModel> Machine::Load(const std::string& name, const std::string& numerics) {
  FORERUN_ASSIGN_OR_RETURN(const std::string path, ResolveModelPath(name));
  const ModelOptions options = {.numerics = numerics == "f32" ? Numerics::kF32 : Numerics::kA8,
                                .kv_dtype = config_.kv_dtype == "f32" ? KvDtype::kF32 : KvDtype::kF16,
                                .fusion = config_.fusion,
                                .packed_cache = {.enabled = config_.packed_cache}};
  FORERUN_ASSIGN_OR_RETURN(LoadedModel loaded,
                           AsDamage(LoadModel(path, options, kernels_, *threads_, *pool_)));
  if (!loaded.note.empty()) std::fprintf(stderr, "%s\n", loaded.note.c_str());
  return loaded;
}

absl::StatusOr<ModelPair> LoadModelPair(Machine& machine, const std::string& target,
                                        const std::string& draft) {
  ModelPair pair;
  FORERUN_ASSIGN_OR_RETURN(pair.target, machine.Load(target));
  if (draft.empty()) return pair;
  FORERUN_ASSIGN_OR_RETURN(pair.draft, machine.Load(draft));
  return pair;
}

int64_t PeakRssBytes() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace forerun
